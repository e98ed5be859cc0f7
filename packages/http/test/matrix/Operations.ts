/**
 * Every operation of the contract, as the matrix walks it: read off `Api` itself, so that a new one cannot be forgotten.
 * What a request of it looks like comes from the document that is derived from the contract, with its examples.
 */
import { Api } from "@castellan/api/Api"
import { ConnectSchemaErrors, RpcAuthentication } from "@castellan/api/rpc/ConnectProtocol"
import { document } from "@castellan/api/openapi/OpenApiDocument"
import { HttpApi } from "effect/http-api"

/** A parameter that a request cannot be without. */
export interface RequiredParameter {
  readonly name: string
  readonly in: string
  readonly example: unknown
}

/** A body that a request may have: of one media type, with the contract's own example. */
export interface BodyExample {
  readonly mediaType: string
  readonly example: unknown
}

/** One operation of the contract. */
export interface Operation {
  /** Its group and name, such as `chats.get`. */
  readonly name: string
  readonly method: string
  /** Its path, with parameters as `:name`. */
  readonly path: string
  /** The names of the parameters in its path. */
  readonly pathParameters: ReadonlyArray<string>
  /** Parameters in the query and the headers that it cannot be without. */
  readonly required: ReadonlyArray<RequiredParameter>
  /** Each kind of body that it takes; none, where it takes none. */
  readonly bodies: ReadonlyArray<BodyExample>
  /** The statuses of its success. */
  readonly successes: ReadonlyArray<number>
  /** The statuses of its failures. */
  readonly failures: ReadonlyArray<number>
  /** Whether its errors are of the Connect protocol. */
  readonly isConnect: boolean
  /** Where it takes its credential from; an operation of the contract may ask for none. */
  readonly credential: "bearer" | "svc_api_key"
}

interface Fields {
  readonly [name: string]: unknown
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The fields of an object in a document; none of what is no object. */
const fields = (value: unknown): Fields => (isFields(value) ? value : {})

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** How the document tells of an operation. */
const described = (method: string, path: string): Fields => {
  const item = fields(fields(document["paths"])[path.replaceAll(/:(\w+)/g, "{$1}")])
  const found = item[method.toLowerCase()]
  if (!isFields(found)) throw new Error(`the OpenAPI document does not tell of ${method} ${path}`)
  return found
}

const requiredOf = (operation: Fields): ReadonlyArray<RequiredParameter> =>
  list(operation["parameters"]).flatMap((one) => {
    const { example, in: place, name, required } = fields(one)
    return required === true && typeof name === "string" && typeof place === "string" && place !== "path"
      ? [{ name, in: place, example }]
      : []
  })

const bodiesOf = (operation: Fields): ReadonlyArray<BodyExample> =>
  Object.entries(fields(fields(operation["requestBody"])["content"])).map(([mediaType, content]) => ({
    mediaType,
    example: fields(content)["example"]
  }))

/** Every operation of the contract, in its order. */
export const operations: ReadonlyArray<Operation> = (() => {
  const found: Array<Operation> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors, group, middleware, successes }) => {
      const operation = described(endpoint.method, endpoint.path)
      const keys = new Set([...middleware].map(({ key }) => key))
      found.push({
        name: `${group.identifier}.${endpoint.identifier}`,
        method: endpoint.method,
        path: endpoint.path,
        pathParameters: [...endpoint.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? ""),
        required: requiredOf(operation),
        bodies: bodiesOf(operation),
        // What streams is told of by the document alone.
        successes:
          successes.size > 0
            ? [...successes.keys()]
            : Object.keys(fields(operation["responses"]))
                .map(Number)
                .filter((status) => status < 300),
        failures: [...errors.keys()],
        isConnect: keys.has(ConnectSchemaErrors.key),
        credential: keys.has(RpcAuthentication.key) ? "svc_api_key" : "bearer"
      })
    }
  })
  return found
})()
