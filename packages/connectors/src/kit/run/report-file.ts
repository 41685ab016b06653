import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { parseCsv } from '@penstock/connector/files'
import type { Credentials } from '../../platform-api/client.ts'
import { isObject, type JsonObject } from '../../platform-api/json.ts'
import { waitMsOf } from '../../platform-api/rate-limit.ts'
import type { RestApi } from '../api.ts'
import type { ReportContent, ReportFile, ReportRequest } from '../report-facts.ts'
import { elementsIn } from './json-elements.ts'
import { exactJson } from './report-cells.ts'
import { unpacked } from './unpack.ts'

/** A row has no more characters than this. */
const rowMax = 16 << 20

/** A file of a platform, opened. `gone`: its address is no longer good. */
export type OpenedReport = { readonly bytes: AsyncIterable<Uint8Array> } | 'gone'

/**
 * Requests a file. The request is authenticated only if the facts say so, and only at an address of the platform.
 * @param credentials opens the credentials of the connector
 */
export async function openReportFile(
  context: ConnectorContext,
  { name, baseUrl }: RestApi,
  { url, hosts, headers = {}, signedIn }: ReportFile,
  credentials: () => Promise<Credentials>,
): Promise<OpenedReport> {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address?.protocol !== 'https:') {
    throw new ConnectorError('malformed_response', `${name} did not return an address of the report.`)
  }
  if (hosts && !hosts.test(address.hostname)) {
    const message = `${name} returned an address of the report at the unknown host ${address.host}.`
    throw new ConnectorError('malformed_response', message)
  }
  const isOwn = address.origin === new URL(baseUrl).origin
  if (signedIn && !isOwn && !(signedIn !== true && signedIn.host.test(address.host))) {
    const message = `${name} returned an address of the report at ${address.host}. The credentials must not be sent to this host.`
    throw new ConnectorError('malformed_response', message)
  }
  const signIn = signedIn ? await signInHeaders(await credentials(), url) : {}
  const response = await context.egress.request(address, {
    headers: { ...signIn, ...headers },
    signal: context.signal,
    streams: true,
    // Credentials go nowhere else, and hosts that are named are all that there are.
    redirectsMax: signedIn || hosts ? 0 : 3,
  })
  if (response.status === 200 && response.body) return { bytes: response.body }
  await response.body?.cancel()
  if (response.status === 429 || response.status >= 500) {
    const code = response.status === 429 ? 'rate_limited' : 'platform_error'
    throw new ConnectorError(code, `${name} did not return the report (status ${response.status}).`, {
      afterMs: waitMsOf(response),
    })
  }
  return 'gone'
}

async function signInHeaders(credentials: Credentials, url: string): Promise<Readonly<Record<string, string>>> {
  return { ...(await credentials.headers()), ...credentials.sign?.('GET', url) }
}

/** The rows of a report that arrives in pieces, in their order. Throws `malformed_response` if it is not a report. */
export async function* rowsOfFile(
  bytes: AsyncIterable<Uint8Array>,
  content: ReportContent,
  to: ReportRequest,
  name: string,
): AsyncGenerator<JsonObject> {
  const text = decoded(unpacked(bytes, name))
  if (isTable(content)) return yield* tableRows(text, content, to, name)
  const { format, at, rows = (element: JsonObject) => [element] } = content
  const elements = format === 'json' ? elementsIn(text, at?.split('.') ?? [], name) : linesOf(text, name)
  for await (const element of elements) {
    const value = parsed(element, name)
    if (!isObject(value)) throw problem(`${name} has an element that is not an object.`)
    yield* rows(value, to)
  }
}

function parsed(text: string, name: string): unknown {
  try {
    return exactJson(text)
  } catch {
    throw problem(`${name} is not JSON.`)
  }
}

async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined
  for await (const piece of bytes) {
    // Some platforms write tables as UTF-16, which begins with a mark.
    decoder ??= new TextDecoder(piece[0] === 0xff && piece[1] === 0xfe ? 'utf-16le' : 'utf-8')
    yield decoder.decode(piece, { stream: true })
  }
  yield decoder?.decode() ?? ''
}

async function* linesOf(text: AsyncIterable<string>, name: string): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of text) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > rowMax) throw problem(`${name} has a row that is too large.`)
    for (const line of lines) if (line.trim() !== '') yield line
  }
  if (rest.trim() !== '') yield rest
}

type Table = Extract<ReportContent, { readonly format: 'csv' | 'tsv' }>
const isTable = (content: ReportContent): content is Table => content.format === 'csv' || content.format === 'tsv'
/** The cells of a line. An empty line has no cells. */
type Line = readonly string[]

async function* tableRows(
  text: AsyncIterable<string>,
  { format, header, names, ends, omits }: Table,
  to: ReportRequest,
  name: string,
): AsyncGenerator<JsonObject> {
  let columns: readonly string[] | undefined
  for await (const record of recordsOf(text, format === 'csv' ? ',' : '\t', name)) {
    const [first = ''] = record
    if (columns === undefined) {
      const isHeader = header ? record.some((cell) => header.test(cell.trim())) : record.length > 0
      if (!isHeader) continue
      const labels = record.map((cell) => cell.trim())
      columns = names?.(to, labels) ?? labels
      if (columns.length !== record.length) {
        throw problem(`${name} has ${record.length} columns, but ${columns.length} were requested.`)
      }
      continue
    }
    if (ends === 'empty line' ? record.length === 0 : ends?.test(first.trim())) return
    if (record.length === 0 || omits?.test(first.trim())) continue
    if (record.length !== columns.length)
      throw problem(`${name} has a row with ${record.length} values, but ${columns.length} columns.`)
    yield Object.fromEntries(columns.map((column, index) => [column, record[index]]))
  }
  // An empty file is a report without rows.
  if (columns === undefined && header) throw problem(`${name} has no line with column names.`)
}

/** The lines of a table, which a quoted cell can contain, too. */
async function* recordsOf(text: AsyncIterable<string>, delimiter: string, name: string): AsyncGenerator<Line> {
  let rest = ''
  for await (const piece of text) {
    rest += piece
    const { records, consumed } = take(rest, false)
    yield* records
    rest = rest.slice(consumed)
    if (rest.length > rowMax) throw problem(`${name} has a row that is too large.`)
  }
  yield* take(rest, true).records

  function take(whole: string, isEnd: boolean): { records: Line[]; consumed: number } {
    const records: Line[] = []
    let at = 0
    let quote = whole.indexOf('"')
    while (at < whole.length) {
      const newline = whole.indexOf('\n', at)
      if (newline < 0 && !isEnd) break
      const end = newline < 0 ? whole.length : newline
      if (quote >= 0 && quote < at) quote = whole.indexOf('"', at)
      if (quote >= 0 && quote < end) {
        const { rows, errors, consumed } = parseCsv(whole.slice(at), { delimiter, newline: '\n' }, 0, isEnd, 1)
        const [row] = rows
        if (!row) break
        if (errors.size > 0) throw problem(`${name} has a row that cannot be read.`)
        records.push(row.map((cell) => String(cell ?? '')))
        at += consumed
        continue
      }
      const line = whole.slice(at, end).replace(/\r$/, '')
      records.push(line === '' ? [] : line.split(delimiter))
      at = end + 1
    }
    return { records, consumed: Math.min(at, whole.length) }
  }
}

const problem = (message: string) => new ConnectorError('malformed_response', message)
