import {
  type Connector,
  type EcapiColumn,
  type EcapiField,
  ecapiEventTypes,
  ecapiFieldOf,
  ecapiFields,
  ecapiLossOf,
  notAccepted,
} from '@penstock/connector'
import { code, markdownTable, plain } from './markdown.ts'

/** How destinations of conversions receive events of the standard ECAPI: on the page of each, and in one table. */

const fields = Object.keys(ecapiFields) as EcapiField[]

/** The part of the page of a connector; nothing if it is no destination of conversions. */
export function ecapiSection({ name, destination }: Connector): string {
  const { ecapi, records = {} } = destination ?? {}
  if (!ecapi) return ''
  const rows = Object.entries(ecapi.columns).map(([column, how]) => [
    code(ecapiFieldOf(how)),
    code(column),
    wordsOf(how),
  ])
  const lost = fields.flatMap((field) => {
    const message = ecapiLossOf(name, ecapi, records, field)
    return message === undefined || message === notAccepted(name) ? [] : [`- ${code(field)}: ${plain(message)}`]
  })
  return [
    '### Events of ECAPI',
    'The [mapping template of ECAPI 1.0](../ecapi.md) fills these columns. Other fields of the standard are not sent.',
    markdownTable(['Field of ECAPI', 'Column', 'Values'], rows),
    lost.join('\n'),
  ].join('\n\n')
}

function wordsOf(how: EcapiColumn): string {
  if (typeof how === 'string') return ''
  if ('fixed' in how) return `always ${code(how.fixed)}`
  const values = Object.entries(how.values).map(([from, to]) => `${code(from)} → ${code(String(to))}`)
  if (how.others) values.push(`others → ${code(how.others)}`)
  return values.join(', ')
}

/** The table of all destinations in the guide. */
export function ecapiTable(connectors: readonly Connector[]): string {
  const rows = connectors.flatMap(({ slug, name, destination }) => {
    const { ecapi, records = {} } = destination ?? {}
    if (!ecapi) return []
    const isWhole = (field: EcapiField) => ecapiLossOf(name, ecapi, records, field) === undefined
    const yes = (field: EcapiField) => (isWhole(field) ? 'yes' : '')
    const filled = new Set(Object.values(ecapi.columns).map(ecapiFieldOf))
    const types = Object.values(ecapi.columns).flatMap((how) =>
      typeof how !== 'string' && how.from === 'event_type' && !('fixed' in how) ? [how] : [],
    )
    return [
      [
        `${plain(name)} (${code(slug)})`,
        String(filled.size),
        Object.values(ecapi.columns).includes('event_type') ? 'by name' : typesOf(types),
        yes('id'),
        yes('user_data.phone_numbers'),
        yes('user_data.mmt_only'),
        yes('user_data.gpp_string'),
      ],
    ]
  })
  const heading = ['Destination', 'Fields', 'Types', 'IDs', 'Hashed phones', '`mmt_only`', '`gpp_string`']
  return `${markdownTable(heading, rows)}\n`
}

type Types = Extract<EcapiColumn, { readonly from: 'event_type'; readonly values: unknown }>

/** How many types of events keep their meaning. */
function typesOf(columns: readonly Types[]): string {
  if (columns.length === 0) return 'not sent'
  if (columns.some(({ values, others }) => others === undefined && Object.keys(values).length === 0)) return 'by name'
  const [{ values, others } = { values: {}, others: undefined }] = columns
  const count = `${Object.keys(values).length} of ${ecapiEventTypes.length - 1}`
  return `${count}, others as ${others === undefined ? 'custom events' : code(String(others))}`
}
