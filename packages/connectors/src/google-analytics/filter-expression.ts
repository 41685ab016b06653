import { isObject, type JsonObject, parseJson, textIn } from '../platform-api/json.ts'

/** The filters of a field, each with what it must have, as the Data API names them. */
const filters: Readonly<Record<string, (filter: JsonObject) => string | undefined>> = {
  stringFilter: ({ matchType, value }) => {
    const types = ['EXACT', 'BEGINS_WITH', 'ENDS_WITH', 'CONTAINS', 'FULL_REGEXP', 'PARTIAL_REGEXP']
    if (matchType !== undefined && !types.includes(String(matchType))) return `matchType must be ${types.join(', ')}`
    return typeof value === 'string' ? undefined : 'value must be a text'
  },
  inListFilter: ({ values }) =>
    Array.isArray(values) && values.length > 0 && values.every((one) => typeof one === 'string')
      ? undefined
      : 'values must be a list of texts',
  numericFilter: ({ operation, value }) => {
    const operations = ['EQUAL', 'LESS_THAN', 'LESS_THAN_OR_EQUAL', 'GREATER_THAN', 'GREATER_THAN_OR_EQUAL']
    if (!operations.includes(String(operation))) return `operation must be ${operations.join(', ')}`
    return isNumeric(value) ? undefined : 'value must be an object with int64Value or doubleValue'
  },
  betweenFilter: ({ fromValue, toValue }) =>
    isNumeric(fromValue) && isNumeric(toValue)
      ? undefined
      : 'fromValue and toValue must be objects with int64Value or doubleValue',
  emptyFilter: () => undefined,
}
const depthMax = 10

const isNumeric = (value: unknown): boolean =>
  isObject(value) && (textIn(value.int64Value) !== undefined || typeof value.doubleValue === 'number')

/**
 * A filter expression of the Data API. `undefined` if a setting contains none. A text that is not JSON is an error of
 * `wrongFilter`.
 */
export const filterIn = (setting: unknown): JsonObject | undefined => {
  const value = parseJson(textIn(setting) ?? '')
  return isObject(value) ? value : undefined
}

/** The error of a setting that must be a filter expression of the Data API, in a sentence. @param label of the setting */
export function wrongFilter(setting: unknown, label: string): string | undefined {
  const text = textIn(setting)
  if (text === undefined) return undefined
  const expression = filterIn(text)
  if (expression === undefined) {
    return `${label} must be a JSON object, such as {"filter":{"fieldName":"country","stringFilter":{"value":"Germany"}}}.`
  }
  const wrong = wrongExpression(expression, 1)
  return wrong && `${label}: ${wrong}.`
}

function wrongExpression(expression: unknown, depth: number): string | undefined {
  const kinds = ['andGroup', 'orGroup', 'notExpression', 'filter']
  const keys = isObject(expression) ? Object.keys(expression) : []
  const [kind = '', ...others] = keys
  if (!isObject(expression) || !kinds.includes(kind) || others.length > 0) {
    return `an expression must have one of ${kinds.join(', ')}${keys.length > 0 ? `, not ${keys.slice(0, 5).join(', ')}` : ''}`
  }
  const inner = expression[kind]
  if (depth > depthMax) return `expressions can be nested ${depthMax} times`
  if (kind === 'filter') return wrongOfField(inner)
  if (kind === 'notExpression') return wrongExpression(inner, depth + 1)
  const list = isObject(inner) ? inner.expressions : undefined
  if (!Array.isArray(list) || list.length === 0) return `${kind} must have a list of expressions`
  for (const one of list) {
    const wrong = wrongExpression(one, depth + 1)
    if (wrong !== undefined) return wrong
  }
}

function wrongOfField(filter: unknown): string | undefined {
  const { fieldName, ...others } = isObject(filter) ? filter : {}
  const name = textIn(fieldName)
  if (name === undefined) return 'a filter must have a fieldName'
  const [kind = '', ...more] = Object.keys(others)
  const wrong = Object.hasOwn(filters, kind) && more.length === 0 ? filters[kind] : undefined
  if (!wrong) return `the filter of ${name} must have one of ${Object.keys(filters).join(', ')}`
  const inner = others[kind]
  const error = isObject(inner) ? wrong(inner) : 'it must be an object'
  return error && `${kind} of ${name}: ${error}`
}
