/**
 * What a stranger might write on the first day, against the packed packages and nothing of this workspace.
 */
import { Chat } from "@castellan/core"
import * as ChatModule from "@castellan/core/chat/Chat"
import assert from "node:assert/strict"

assert.equal(Chat.ChatId, ChatModule.ChatId, "the root and the deep import are one module")
console.log("the program ran")
