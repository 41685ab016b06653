import type { FieldDefinition, Fields, RecordField, Records } from '@penstock/connector'
import { type Content, html, type Markup } from './markup.ts'

/** A column of a table: its heading, and what a row shows in it; undefined where a row has nothing to show. */
type Column<R> = { heading: string; cell: (row: R) => Content }

/** A table that names itself by a heading of the page. Columns in which no row shows anything are left out. */
function table<R>(labelledBy: string, rows: readonly R[], columns: readonly Column<R>[]): Markup {
  const shown = columns.filter(({ cell }) => rows.some((row) => cell(row) !== undefined))
  const [first, ...others] = shown
  return html`<table role="table" aria-labelledby="${labelledBy}">
<thead role="rowgroup"><tr role="row">${shown.map(({ heading }) => html`<th role="columnheader" scope="col">${heading}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (row) => html`<tr role="row"><th role="rowheader" scope="row">${first?.cell(row)}</th>${others.map(
    ({ heading, cell }) =>
      html`<td role="cell" data-heading="${heading}"${cell(row) === undefined && html` class="none"`}>${cell(row)}</td>`,
  )}</tr>
`,
)}</tbody>
</table>`
}

const list = (items: readonly string[]) =>
  html`<ul class="values">${items.map((item) => html`<li><code>${item}</code></li>`)}</ul>`

/** The fields of a configuration: what they are called, what they take, when they are needed. */
export function fieldsTable(labelledBy: string, fields: Fields): Markup {
  return table(labelledBy, Object.entries(fields), [
    { heading: 'Field', cell: ([key, field]) => html`${field.label} <code>${key}</code>` },
    { heading: 'Type', cell: ([, field]) => typeOf(field) },
    { heading: 'Required', cell: ([, field]) => requirementOf(field, fields) },
    {
      heading: 'Description',
      cell: ([, { description, options, default: preset, binds = [] }]) => html`<p>${description}.</p>
${options && html`<p>One of:</p>${list(options)}`}${
  preset !== undefined && html`<p>Unless set: <code>${[preset].flat().join(', ')}</code></p>`
}${
  binds.length > 0 &&
  html`<p>When it changes, send these again: ${binds.map((name) => fields[name]?.label ?? name).join(', ')}</p>`
}`,
    },
  ])
}

function typeOf({ type, min, max }: FieldDefinition): string {
  if (min !== undefined && max !== undefined) return `${type}, ${min} to ${max}`
  if (min !== undefined) return `${type}, ${min} or more`
  if (max !== undefined) return `${type}, ${max} or less`
  return type
}

function requirementOf({ required, readonly, role, when }: FieldDefinition, fields: Fields): Content {
  if (readonly) return 'The service fills it'
  const conditions = [
    ...(role ? [`as a ${role.toLowerCase()}`] : []),
    ...Object.entries(when ?? {}).map(
      ([other, values]) => `where ${fields[other]?.label ?? other} is ${[values].flat().join(' or ')}`,
    ),
  ]
  if (conditions.length === 0) return required ? 'Yes' : 'No'
  return required ? `Yes, ${conditions.join(', ')}` : `No; counts ${conditions.join(', ')}`
}

/** The columns of a record, and the rules that hold between them. */
export function recordsTable(labelledBy: string, records: Records): Content {
  return [
    groupRules(records, 'oneOf', 'At least one of these in every row:'),
    groupRules(records, 'together', 'All of these in a row, or none:'),
    table(labelledBy, Object.entries(records), [
      { heading: 'Column', cell: ([key]) => html`<code>${key}</code>` },
      { heading: 'Kind', cell: ([, { kind }]) => kind && sentence(kind) },
      { heading: 'Type', cell: ([, { type }]) => type },
      { heading: 'Required', cell: ([, field]) => needOf(field, records) },
      {
        heading: 'Description',
        cell: ([, { description, values, identifiers, hashed, digestEncoding, reports }]) => html`<p>${description}.</p>
${values && html`<p>One of:</p>${list(values)}`}${identifiers && html`<p>Identifiers:</p>${list(identifiers)}`}${
  hashed &&
  html`<p>Hashed with: ${hashed.map((digest) => digests[digest]).join(' or ')}${digestEncoding === 'base64' && ', written in Base64'}</p>`
}${reports && html`<p>In the reports:</p>${list(reports)}`}`,
      },
    ]),
  ]
}

const digests: Readonly<Record<NonNullable<RecordField['hashed']>[number], string>> = {
  sha256: 'SHA-256',
  sha512: 'SHA-512',
  md5: 'MD5',
}

const isDelivered = (records: Records) => Object.values(records).every(({ kind }) => kind === undefined)

/** A source's columns are read, so no one has to fill them. */
function needOf({ required, oneOf }: RecordField, records: Records): string | undefined {
  if (!isDelivered(records)) return undefined
  if (required) return 'Yes'
  return oneOf === undefined ? 'No' : 'One of its group'
}

function groupRules(records: Records, rule: 'oneOf' | 'together', says: string): Content {
  const members = Object.entries(records).filter(([, field]) => field[rule] !== undefined)
  const groups = Map.groupBy(members, ([, field]) => field[rule])
  return [...groups.values()].map(
    (group) => html`<div class="rule"><p>${says}</p>${list(group.map(([key]) => key))}</div>
`,
  )
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
