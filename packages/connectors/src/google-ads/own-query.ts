import { ConnectorError, type Values } from '@penstock/connector'
import { day, dimension, metric, type ReportColumn } from '../kit/report-columns.ts'
import type { ChangedFacts, PagesReport, ReportDays, ReportSource } from '../kit/report-facts.ts'
import { textIn } from '../platform-api/json.ts'
import { conditionsOf, readSelect } from '../platform-api/select-statement.ts'

const invalid = (message: string): ConnectorError => new ConnectorError('invalid_setting', message)
const dateField = 'segments.date'
const others = ['level', 'breakdowns', 'otherBreakdowns', 'metrics', 'otherMetrics']

/** The place of a field in an answer: `metrics.cost_micros` is `metrics.costMicros` there. */
export const placeOf = (field: string): string => field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A query in the Google Ads Query Language. */
export type Gaql = {
  readonly fields: readonly string[]
  readonly resource: string
  /** The query for some days, if it selects `segments.date`. Otherwise the query as it was entered. */
  readonly textOf: (from: string, to: string) => string
}

/** Reads a query that a person entered. Throws `invalid_setting`, which names the field. */
export function readGaql(setting: unknown): Gaql {
  const statement = readSelect(setting, 'GAQL query')
  const { text, list, from: resource, rest } = statement
  const fields = list.split(',').map((field) => field.trim())
  const strange = fields.find((field) => !/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/.test(field))
  if (strange !== undefined) {
    throw invalid(`“${strange}” is not a field. Separate fields with commas, such as campaign.id, metrics.clicks.`)
  }
  const twice = fields.find((field, at) => fields.indexOf(field) !== at)
  if (twice !== undefined) throw invalid(`The GAQL query selects ${twice} twice. Select it once.`)
  if (!fields.includes(dateField)) return { fields, resource, textOf: () => text }
  if (rest.plain.includes(dateField)) {
    throw invalid(`Remove the condition or order of ${dateField} from the GAQL query: each request adds its days.`)
  }
  if (/\blimit\b/i.test(rest.plain)) {
    throw invalid(
      `Remove LIMIT from the GAQL query, or do not select ${dateField}: the limit would be one of each request.`,
    )
  }
  const { before, where, after } = conditionsOf(statement, /\b(?:order\s+by|parameters)\b/i)
  if (before !== '') {
    throw invalid(`“${before.slice(0, 40)}” after FROM ${resource} is not a WHERE condition. Correct the GAQL query.`)
  }
  return {
    fields,
    resource,
    textOf: (from, to) =>
      `SELECT ${fields.join(', ')} FROM ${resource} WHERE ${dateField} BETWEEN '${from}' AND '${to}'${where && ` AND ${where}`}${after && ` ${after}`}`,
  }
}

/** A field of a query as a column: all that is not a metric tells rows apart. */
function columnOf(field: string): ReportColumn {
  const place = { ask: field, at: placeOf(field) }
  if (field === dateField) return day('Day, in the time zone of the account', place)
  return field.startsWith('metrics.') ? metric('decimal', '', place) : dimension('', place)
}

/** The facts of a custom query. `undefined` if the settings contain none. Throws `invalid_setting`. */
export function ownQuery(
  settings: Values,
  { always, columns, days }: Pick<ReportSource, 'always' | 'columns' | 'days'>,
  clicks: Partial<ReportDays>,
  report: (textOf: Gaql['textOf']) => PagesReport,
): ChangedFacts | undefined {
  if (textIn(settings.gaqlQuery) === undefined) return undefined
  const taken = others.find((key) => String(settings[key] ?? '') !== '')
  if (taken !== undefined) {
    throw invalid('The GAQL query replaces level, breakdowns and metrics. Clear these settings, or the query.')
  }
  const { fields, resource, textOf } = readGaql(settings.gaqlQuery)
  const figures = fields.filter((field) => field.startsWith('metrics.'))
  const hasDays = fields.includes(dateField)
  const key = fields.filter((field) => field !== dateField && !figures.includes(field))
  return {
    always: [...(hasDays ? [dateField] : []), ...always.filter((name) => !columns[name]?.isDay)],
    levels: { query: { key } },
    breakdowns: [],
    presets: { query: { metrics: figures } },
    columns: { ...columns, ...Object.fromEntries(fields.map((field) => [field, columnOf(field)])) },
    days: !hasDays ? 'none' : resource === 'click_view' ? { ...days, ...clicks } : days,
    report: report(textOf),
  }
}
