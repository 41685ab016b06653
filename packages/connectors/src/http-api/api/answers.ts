import { ConnectorError } from '@penstock/connector'
import { parseCsv } from '@penstock/connector/files'
import type { Scope } from '@penstock/expressions/json'
import { exactJson } from '../../kit/run/report-cells.ts'
import { readXml } from '../../object-stores/xml.ts'
import type { Answer } from '../../platform-api/call.ts'
import type { AnswerForm } from '../definition/definition.ts'

/** An answer whose body was read: JSON with all digits of its numbers, or what the rows of another form are in JSON. */
export type ApiAnswer = Answer & { readonly content: unknown }

/** Reads the body of an answer. Throws `malformed_response` if it does not have the form. */
export function readAnswerBody(text: string, { form, delimiter = ',' }: AnswerForm, name: string): unknown {
  try {
    switch (form) {
      case 'json':
        return exactJson(text)
      case 'lines':
        return text
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map((line) => exactJson(line))
      case 'csv':
        return csvRecords(text, delimiter)
      case 'xml':
        return readXml(text, name)
    }
  } catch (error) {
    if (error instanceof ConnectorError) throw error
    throw new ConnectorError('malformed_response', `${name} answered with something other than ${formNames[form]}.`)
  }
}

const formNames = { json: 'JSON', lines: 'a record of JSON in each line', csv: 'CSV', xml: 'XML' } as const

function csvRecords(text: string, delimiter: string): object[] {
  const dialect = { delimiter, newline: '\n', short: true } as const
  const head = parseCsv(text, dialect, 0, true, 1)
  const names = (head.rows[0] ?? []).map(String)
  const { rows, errors } = parseCsv(text.slice(head.consumed), dialect, names.length, true)
  if (errors.size > 0) throw new SyntaxError('A row has too many cells')
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? null])))
}

/** The names that expressions about an answer have. */
export const scopeOfAnswer = ({ headers, status }: Answer, content: unknown): Scope => ({
  response: content,
  headers,
  status,
  links: linksIn(headers.get('link') ?? ''),
})

/** The addresses in a `Link` header by their relation (RFC 8288). */
export function linksIn(header: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = Object.create(null)
  for (const [, address = '', parameters = ''] of header.slice(0, 16_384).matchAll(/<([^<>]*)>([^<]*)/g)) {
    const [, quoted, plain] = /;\s*rel\s*=\s*(?:"([^"]*)"|([\w-]+))/i.exec(parameters) ?? []
    for (const relation of (quoted ?? plain ?? '').toLowerCase().split(/\s+/)) found[relation] ??= address
  }
  return found
}
