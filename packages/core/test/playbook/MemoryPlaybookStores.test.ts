import * as DeliveryStore from "@castellan/core/delivery/DeliveryStore"
import * as PlaybookRunStore from "@castellan/core/playbook/PlaybookRunStore"
import * as PlaybookStore from "@castellan/core/playbook/PlaybookStore"
import * as ReportStore from "@castellan/core/report/ReportStore"
import * as ScheduleStore from "@castellan/core/schedule/ScheduleStore"
import * as DeliveryStoreSuite from "@castellan/testing/suite/DeliveryStoreSuite"
import * as PlaybookRunStoreSuite from "@castellan/testing/suite/PlaybookRunStoreSuite"
import * as PlaybookStoreSuite from "@castellan/testing/suite/PlaybookStoreSuite"
import * as ReportStoreSuite from "@castellan/testing/suite/ReportStoreSuite"
import * as ScheduleStoreSuite from "@castellan/testing/suite/ScheduleStoreSuite"

PlaybookStoreSuite.suite("memory", PlaybookStore.layerMemory)
PlaybookRunStoreSuite.suite("memory", PlaybookRunStore.layerMemory)
ScheduleStoreSuite.suite("memory", ScheduleStore.layerMemory)
ReportStoreSuite.suite("memory", ReportStore.layerMemory)
DeliveryStoreSuite.suite("memory", DeliveryStore.layerMemory)
