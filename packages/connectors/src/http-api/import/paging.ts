import { type JsonObject, numberIn, objectIn, textIn } from '../../platform-api/json.ts'
import { type Notes, namesOf } from './texts.ts'

/** The `pages` of a stream for a paginator of a manifest; `undefined` if it has one page. */
export function importPaging(paginator: JsonObject, notes: Notes): object | undefined {
  const wrong = (path: string, message: string): undefined => {
    notes.problems.push({ path: `${notes.path}.retriever.paginator${path}`, message })
  }
  const type = textIn(paginator.type)
  if (type === undefined || type === 'NoPagination') return undefined
  if (type !== 'DefaultPaginator') return wrong('', `${type} cannot be carried.`)
  const strategy = objectIn(paginator.pagination_strategy)
  const option = objectIn(paginator.page_token_option)
  const sizeOption = objectIn(paginator.page_size_option)
  const place = textIn(option.inject_into) ?? 'request_parameter'
  const isPath = option.type === 'RequestPath'
  if (!isPath && place !== 'request_parameter' && place !== 'body_json') {
    return wrong('.page_token_option', `A page in ${place} cannot be carried.`)
  }
  const given = strategy.page_size
  const name = /^\s*\{\{\s*config\b/.test(String(given)) ? namesOf(String(given).replace(/[{}]/g, ''))?.[1] : undefined
  const size = numberIn(name === undefined ? given : notes.given[name])
  if (given !== undefined && size === undefined)
    return wrong('.pagination_strategy.page_size', 'The size is not a number.')
  const sizeParameter = textIn(sizeOption.field_name)
  const parameter = textIn(option.field_name)
  const isSized = size !== undefined && sizeParameter !== undefined
  if (isSized && (sizeOption.inject_into === 'body_json') !== (place === 'body_json')) {
    return wrong('.page_size_option', 'The size and the page are in different parts of the request.')
  }
  const sizes = { ...(size === undefined ? {} : { size }), ...(isSized ? { sizeParameter } : {}) }
  const common = { ...(parameter === undefined ? {} : { parameter }), ...(place === 'body_json' ? { in: 'body' } : {}) }
  switch (strategy.type) {
    case 'PageIncrement':
      return { by: 'page', ...common, first: numberIn(strategy.start_from_page) ?? 0, ...sizes }
    case 'OffsetIncrement':
      return { by: 'offset', ...common, ...sizes }
    case 'CursorPagination': {
      const names = namesOf(String(strategy.cursor_value ?? '').replace(/^\s*\{\{|\}\}\s*$/g, ''))
      const [root, ...at] = names ?? []
      if (root === 'headers' && at.join('.').toLowerCase() === 'link.next.url') return { by: 'link', ...sizes }
      if (root === 'headers' && at.length === 1 && !isPath) return { by: 'cursor', ...common, header: at[0], ...sizes }
      if (root === 'response' && at.length > 0) {
        return isPath ? { by: 'url', at, ...sizes } : { by: 'cursor', ...common, at, ...sizes }
      }
      return wrong('.pagination_strategy.cursor_value', 'Only a value of the answer or of a header can be carried.')
    }
    default:
      return wrong('.pagination_strategy', `${strategy.type} cannot be carried.`)
  }
}
