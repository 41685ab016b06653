import type { PersonIdentifierKind } from '@penstock/connector'

/**
 * An HTTP API as data: the streams that a source reads, and the operations by which a destination writes. `parseDefinition` reads one
 * from text, and checks all of it.
 */
export type ApiDefinition = {
  readonly streams: Readonly<Record<string, ApiStream>>
  readonly operations: Readonly<Record<string, ApiOperation>>
  /** A request that changes nothing and needs the credentials; a success shows that these work. */
  readonly check?: ApiRequest
  readonly pace?: Pace
  /** How the API erases a person, by the kind of identifier. */
  readonly erasure?: Readonly<Partial<Record<PersonIdentifierKind, ErasureRequest>>>
}

/** How many requests the API takes: so many begin in any span of so many seconds. */
export type Pace = {
  readonly requests: number
  readonly seconds: number
  /** The header of an answer with the number of requests that are left: at 0, the next request waits. */
  readonly remaining?: string
}

/** A request as templates. */
export type ApiRequest = {
  /** Name of one of the other servers of the connector; absent for the base URL. */
  readonly server?: string
  /** Behind the base URL, with a slash at its beginning; a template. */
  readonly path: string
  /** Templates, by the name of the parameter or header. */
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  /** Sent as JSON; each text in it is a template. Absent if nothing is sent. */
  readonly body?: unknown
  /** Sent as a form, by the name of the key; templates. Absent if nothing is. */
  readonly form?: Readonly<Record<string, string>>
}

/** Something that the API does with rows: the request that sends them, and what its answer says of each. */
export type ApiOperation = ApiRequest & {
  readonly method: OperationMethod
  /** The JSON that is sent of one row; each text in it is a template. Absent: an object of its columns. */
  readonly row?: unknown
  /** Whether the rows of a request are sent as lines of JSON, and not as one JSON value. */
  readonly lines: boolean
  /** Rows and bytes of one request, at most. */
  readonly batch: { readonly rows: number; readonly bytes: number }
  /** The columns that a row can have, by their names. Other columns are not sent. */
  readonly columns: Readonly<Record<string, OperationColumn>>
  /** Names of values that a connection must enter, `{{ parameter.name }}`. */
  readonly parameters: readonly string[]
  /** Values that are asked for, or made, before the first request of a transfer, `{{ value.name }}`; in their order. */
  readonly values: Readonly<Record<string, PreparedValue>>
  readonly result: ResultRules
  readonly later?: LaterResult
  readonly errors: readonly ErrorRule[]
}

export const operationMethods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
export type OperationMethod = (typeof operationMethods)[number]

/** How the value of a column is read, and what a row needs. */
export type OperationColumn = {
  readonly type: OperationColumnType
  readonly description: string
  readonly required: boolean
  /** Whether a row needs one of the columns that are marked so. */
  readonly identifies: boolean
  /** Characters of a text, at most. */
  readonly lengthMax?: number
  /** Whether the keys of an object are added to the other columns, instead of a nested object. */
  readonly merges?: true
  /** The values of `one of`. */
  readonly values?: readonly string[]
  /** The form in which a time is sent. */
  readonly unit?: 'seconds' | 'milliseconds' | 'iso' | 'utc'
}

export const operationColumnTypes = [
  ...(['text', 'number', 'whole number', 'yes or no', 'time', 'moment', 'one of', 'currency'] as const),
  ...(['list', 'object', 'objects', 'sha256', 'md5'] as const),
] as const
export type OperationColumnType = (typeof operationColumnTypes)[number]

/** A value that the API has, or that is made there if it is missing: the ID of a list by its name. */
export type PreparedValue = {
  readonly find?: FindRequest
  /** Made if nothing is found; `value` is an expression about its answer. */
  readonly create?: ApiRequest & { readonly method: OperationMethod; readonly value: string }
}

/** Asks for a list, and takes the value of the first entry for which an expression holds. */
export type FindRequest = ApiRequest & {
  readonly method: 'GET' | 'POST'
  readonly at: readonly string[]
  /** An expression about `entry`. */
  readonly where: string
  /** An expression about `entry`. */
  readonly value: string
}

/** Asks the API to erase the person with an identifier, `{{ person }}`. */
export type ErasureRequest = ApiRequest & {
  readonly method: OperationMethod
  /** Finds what to erase, `{{ found }}`; each entry is one request. Absent: one request without it. */
  readonly find?: FindRequest
  /** An expression that holds for an answer that says that the API does not have the person. */
  readonly missing?: string
  /** The meaning of a success. */
  readonly outcome: 'deleted' | 'requested'
  readonly result: ResultRules
  readonly errors: readonly ErrorRule[]
}

/** The meaning of an answer for the rows of its request. Rows that it does not blame were taken. */
export type ResultRules = {
  /** Statuses by which the API refuses what is in a request: it is sent again without the rows to blame, or in halves. */
  readonly refused: readonly number[]
  /** An expression that holds for a success; absent: the status says it. */
  readonly success?: string
  /** A template for why a request was refused. */
  readonly reason?: string
  readonly rows?: RowResults
  /** An expression for the number of rows that were taken, if the answer does not say which were not. */
  readonly taken?: string
}

/** A list in an answer that says of rows whether they were taken. */
export type RowResults = {
  readonly at: readonly string[]
  /**
   * How an entry names its row: entries are in the order of the rows, have the number of their row, or repeat the value of one of
   * its columns, in any letter case.
   */
  readonly by:
    | { readonly kind: 'order' }
    | { readonly kind: 'index'; readonly value: string; readonly first: number }
    | { readonly kind: 'key'; readonly value: string; readonly columns: readonly string[] }
  /** An expression about `entry` that holds if the row was not taken; absent: always. */
  readonly rejected?: string
  /** An expression about `entry` that holds if the row is to be sent once more. */
  readonly again?: string
  /** A template for why the row was not taken. */
  readonly reason?: string
  /** A template for the name of the column to blame. */
  readonly field?: string
}

/** The result of an accepted request, which the API makes later: asked for until it is there. */
export type LaterResult = ApiRequest & {
  readonly method: 'GET' | 'POST'
  /** An expression about the first answer for what names the result, `{{ job }}`. */
  readonly job: string
  /** An expression about the later answer that holds once the result is there. */
  readonly done: string
  /** An expression that holds if the API failed: the batch is sent again. */
  readonly failed?: string
  readonly everySeconds: number
  readonly waitSeconds: number
  /** The request whose answer has the result, once it is there; absent: the answer that says so. */
  readonly from?: ApiRequest
  readonly result: ResultRules
}

/** One list of records at the API. */
export type ApiStream = ApiRequest & {
  readonly method: 'GET' | 'POST'
  /** The form of an answer: JSON, or another one whose rows become records. */
  readonly answer: AnswerForm
  /** Keys that lead to the records in an answer; `*` is every element. None: the answer is the list, or one record. */
  readonly records: readonly string[]
  /** Whether an answer without anything at that path has no records, and is no error. */
  readonly recordsOptional: boolean
  /** Changes of each record, in their order. */
  readonly changes: readonly RecordChange[]
  /** Columns as paths in a record; absent if they are those of the first page. */
  readonly columns?: readonly string[]
  readonly pages?: Pages
  /** Several kinds give each combination of their values. */
  readonly partitions?: readonly Partitions[]
  readonly cursor?: StreamCursor
  readonly errors: readonly ErrorRule[]
}

/** How the pages of a list follow each other. */
export type Pages = {
  /** A number of pages, of records, a value in each answer, a `Link` header, or an address in each answer. */
  readonly by: 'page' | 'offset' | 'cursor' | 'link' | 'url'
  /** The parameter that has the page, the offset or the cursor. */
  readonly parameter: string
  /** Whether the parameters are in the query, keys of the body or form, or headers. */
  readonly in: 'query' | 'body' | 'header'
  /** The number of the first page. */
  readonly first: number
  /** Records of a page; a page that has fewer is the last. Absent if the API decides: the last page is empty. */
  readonly size?: number
  /** The parameter that asks for the size. */
  readonly sizeParameter?: string
  /** Keys that lead to the cursor or the address in an answer. */
  readonly at: readonly string[]
  /** The header of an answer that has the cursor. */
  readonly header?: string
  /** An expression that makes the cursor or the address from an answer, instead of `at` and `header`. */
  readonly next?: string
  /** An expression that holds for an answer that is the last page. */
  readonly stop?: string
}

/** A stream is read once for each value: those listed, or those of a field of other streams. */
export type Partitions = PartitionSource & {
  /** The name in templates, `partition.name`, if a stream has several kinds of partitions. */
  readonly name?: string
}

type PartitionSource = { readonly values: readonly string[] } | { readonly of: readonly PartitionStream[] }

/** Another stream of which each record is a partition. */
export type PartitionStream = {
  readonly stream: string
  readonly field: string
  /** More fields of the record, which templates can name as `parent.field`. */
  readonly fields: readonly string[]
}

/** The form of answers; a compressed one (gzip) is recognised. */
export type AnswerForm = {
  readonly form: 'json' | 'lines' | 'csv' | 'xml'
  /** Between the values of CSV. */
  readonly delimiter?: string
}

/** One change of a record: kept only if an expression holds, a field that is set, removed or lifted to the top, or other names of all fields. */
export type RecordChange =
  | { readonly keep: string }
  | { readonly set: readonly string[]; readonly to: string; readonly if?: string }
  | { readonly remove: readonly string[] }
  | { readonly lift: readonly string[] }
  | { readonly names: 'lower' | 'snake' }

/** The times of which a stream is read, from `cursor.start` to `cursor.end`. */
export type StreamCursor = {
  /** One of four names, or a format such as `%Y-%m-%d %H:%M:%S`. */
  readonly format: string
  /** Days of one request; all of them if absent. */
  readonly stepDays?: number
  /** Hours of one request, instead of days. */
  readonly stepHours?: number
  /** Days before the last transfer that are read again. */
  readonly lookBackDays: number
  /** The first time: a day or an expression, unless the connection has one. */
  readonly start?: string
  /** The last time: an expression; now if absent. */
  readonly end?: string
}

/** The meaning of an answer if it is not what its status says. The first rule that fits counts. */
export type ErrorRule = {
  /** Statuses; any if there are none. */
  readonly status: readonly number[]
  /** A text in the body. */
  readonly contains?: string
  /** An expression that holds for the answer. */
  readonly when?: string
  readonly action: 'accept' | 'ignore' | 'retry' | 'wait' | 'fail'
}

/** Names in the templates of requests. */
export const templateNames = ['cursor.start', 'cursor.end', 'partition', 'parent', 'page'] as const

/** Names in the expressions about an answer, beside those of the request. */
export const answerNames = ['response', 'headers', 'links', 'status', 'last', 'count'] as const

/** Partitions of a stream, at most, and streams that give each other partitions. */
export const partitionsMax = 10_000
export const partitionDepthMax = 5

/** Characters of the text of a definition. */
export const definitionLengthMax = 65_536
