import type { Row } from '@penstock/connector'
import type { ServerError, TestServerHang } from '@penstock/connector/acceptance'
import type { Answer, FailingProxy, Failure, Judged } from './failing-proxy.ts'

/** Functions that the tests of all object stores share. */

/** Rows of some hundred bytes each, or more with longer notes; no two of them alike. */
export function someRows(count: number, noteBytes = 35): { columns: string[]; rows: Row[] } {
  const columns = ['id', 'email', 'name', 'note']
  const rows = Array.from({ length: count }, (_, index) => [
    String(index),
    `person${index}@example.com`,
    `Zoë "${index % 97}" Müller`,
    index % 3 === 0 ? 'a line\nand another, of a note' : 'plain note with padding '.padEnd(noteBytes, '.'),
  ])
  return { columns, rows }
}

export const csvOfRows = (columns: readonly string[], rows: readonly Row[]): string =>
  [columns, ...rows]
    .map((row) => `${row.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(',')}\r\n`)
    .join('')

/** Reads CSV back, by the rules of RFC 4180, without the code that wrote it. */
export function rowsOfCsv(bytes: Buffer): Row[] {
  const rows: string[][] = []
  for (const [line] of bytes.toString().matchAll(/(?:"[^"]*"|[^"\n]+)*\n/g)) {
    const cells = [...line.replace(/\r?\n$/, '').matchAll(/(?:^|,)((?:"[^"]*")+|[^",]*)/g)].map(([, cell = '']) =>
      cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell,
    )
    rows.push(cells)
  }
  return rows.slice(1)
}

/** Failures that every store must turn into the right error. @param of which requests fail; all unless given */
export function problemsOf(
  proxy: FailingProxy,
  answers: { readonly slow: Answer; readonly forbidden: Answer },
  of: (asked: Judged) => boolean = () => true,
): ServerError[] {
  const problem = (name: string, what: Failure, expected: Pick<ServerError, 'action' | 'code' | 'afterMs'>) => ({
    name,
    start: () => {
      proxy.failure = { what, of }
    },
    stop: () => {
      proxy.failure = undefined
    },
    ...expected,
  })
  const { slow, forbidden } = answers
  return [
    problem('asks to slow down', slow, { action: 'retry', code: 'rate_limited' }),
    problem(
      'answers 429 and asks to wait 7 seconds',
      { status: 429, headers: { 'retry-after': '7' } },
      { action: 'retry', code: 'rate_limited', afterMs: 7000 },
    ),
    problem(
      'answers 500 with a page of a gateway',
      { status: 500, body: '<html><body>Oh<br></html>' },
      { action: 'retry' },
    ),
    problem('resets connections', 'resets', { action: 'retry', code: 'connection_lost' }),
    problem('forbids everything', forbidden, { action: 'reconfigure', code: 'permission_denied' }),
  ]
}

export const hangOf = (proxy: FailingProxy): TestServerHang => ({
  start: () => {
    proxy.failure = { what: 'hangs' }
  },
  reached: () => proxy.hangs(),
  stop: () => {
    proxy.failure = undefined
  },
})

/** All values, once there are no more. */
export async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = []
  for await (const value of values) all.push(value)
  return all
}
