/** A source as data: the streams of an HTTP API. `parseDefinition` reads one from text, and checks all of it. */
export type ApiDefinition = {
  readonly streams: Readonly<Record<string, ApiStream>>
}

/** One list of records at the API. */
export type ApiStream = {
  /** Behind the base URL, with a slash at its beginning; a template. */
  readonly path: string
  readonly method: 'GET' | 'POST'
  /** Templates, by the name of the parameter or header. */
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  /** Sent as JSON; each text in it is a template. Absent if nothing is sent. */
  readonly body?: unknown
  /** Keys that lead to the records in an answer; `*` is every element. None: the answer is the list, or one record. */
  readonly records: readonly string[]
  /** Columns as paths in a record; absent if they are those of the first page. */
  readonly columns?: readonly string[]
  readonly pages?: Pages
  readonly partitions?: Partitions
  readonly cursor?: StreamCursor
  readonly errors: readonly ErrorRule[]
}

/** How the pages of a list follow each other. */
export type Pages = {
  /** A number of pages, of records, a value in each answer, a `Link` header, or an address in each answer. */
  readonly by: 'page' | 'offset' | 'cursor' | 'link' | 'url'
  /** The parameter that has the page, the offset or the cursor. */
  readonly parameter: string
  /** Whether the parameters are in the query or are keys of the body. */
  readonly in: 'query' | 'body'
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
}

/** A stream is read once for each value: those listed, or those of a field of another stream. */
export type Partitions = { readonly values: readonly string[] } | { readonly stream: string; readonly field: string }

/** The times of which a stream is read, from `cursor.start` to `cursor.end`. */
export type StreamCursor = {
  readonly format: 'time' | 'date' | 'seconds' | 'milliseconds'
  /** Days of one request; all of them if absent. */
  readonly stepDays?: number
  /** Days before the last transfer that are read again. */
  readonly lookBackDays: number
  /** The first day, unless the connection has one. */
  readonly start?: string
}

/** The meaning of an answer if it is not what its status says. The first rule that fits counts. */
export type ErrorRule = {
  /** Statuses; any if there are none. */
  readonly status: readonly number[]
  /** A text in the body. */
  readonly contains?: string
  readonly action: 'ignore' | 'retry' | 'wait' | 'fail'
}

/** Times and partitions that templates can name. */
export const templateNames = ['cursor.start', 'cursor.end', 'partition'] as const

/** Partitions of a stream, at most. */
export const partitionsMax = 10_000
