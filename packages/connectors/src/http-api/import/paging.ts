import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../../platform-api/json.ts'
import { type ImportedSlices, injectInto } from './slices.ts'
import { expressionOf, type Notes, note, resultOf, templateOf } from './texts.ts'

type Requests = Pick<ImportedSlices, 'query' | 'headers' | 'form' | 'body'>

/**
 * The `pages` of a stream for a paginator of a manifest; `undefined` if it has one page.
 * @param requests gets the size of pages, if it is in another part of the request than the page
 * @param isPageNamed whether the templates of the stream name the page
 */
export function importPaging(
  paginator: JsonObject,
  notes: Notes,
  requests: Requests,
  isPageNamed: boolean,
): JsonObject | undefined {
  const where = 'retriever.paginator'
  const type = textIn(paginator.type)
  if (type === undefined || type === 'NoPagination') return undefined
  if (type !== 'DefaultPaginator') return note(notes, where, `${type} cannot be carried.`)
  const strategy = objectIn(paginator.pagination_strategy)
  const option = objectIn(paginator.page_token_option)
  const sizeOption = objectIn(paginator.page_size_option)
  const isPath = option.type === 'RequestPath'
  const place = isPath ? 'query' : placeOf(option.inject_into ?? 'request_parameter')
  if (place === undefined)
    return note(notes, `${where}.page_token_option`, `A page in ${option.inject_into} cannot be carried.`)
  const size = numberIn(resultOf(strategy.page_size, notes, `${where}.pagination_strategy.page_size`))
  if (strategy.page_size !== undefined && size === undefined) {
    return note(notes, `${where}.pagination_strategy.page_size`, 'The size is not a number.')
  }
  const sizeParameter = nameIn(sizeOption, notes)
  const isTogether =
    placeOf(sizeOption.inject_into ?? 'request_parameter') === place && sizeOption.inject_into !== 'body_data'
  if (size !== undefined && sizeParameter !== undefined && !isTogether) {
    injectInto(requests, sizeOption, String(size), notes, `${where}.page_size_option`)
  }
  if (option.inject_into === 'body_data') requests.form[''] = ''
  const sizes = {
    ...(size === undefined ? {} : { size }),
    ...(size !== undefined && sizeParameter !== undefined && isTogether ? { sizeParameter } : {}),
  }
  const parameter = isPath ? undefined : nameIn(option, notes)
  // Nothing asks for another page then, so that the first one is all.
  if (!isPath && parameter === undefined && !isPageNamed) return undefined
  const common = { ...(parameter === undefined ? {} : { parameter }), ...(place === 'query' ? {} : { in: place }) }
  switch (strategy.type) {
    case 'PageIncrement': {
      const first = numberIn(resultOf(strategy.start_from_page, notes, `${where}.pagination_strategy`)) ?? 0
      return { by: 'page', ...common, first, ...sizes }
    }
    case 'OffsetIncrement':
      return { by: 'offset', ...common, ...sizes }
    case 'CursorPagination':
      return byCursor(strategy, notes, isPath, { ...common, ...sizes })
    default:
      return note(notes, `${where}.pagination_strategy`, `${strategy.type} cannot be carried.`)
  }
}

function byCursor(strategy: JsonObject, notes: Notes, isPath: boolean, rest: JsonObject): JsonObject {
  const where = 'retriever.paginator.pagination_strategy'
  const next = expressionOf(strategy.cursor_value ?? '', notes, `${where}.cursor_value`, 'answer') ?? 'null'
  const given = strategy.stop_condition
  const condition = given === undefined ? undefined : expressionOf(given, notes, `${where}.stop_condition`, 'answer')
  const isNext = condition === `!(${next})` || condition === '!("next" in links)'
  const stop = condition === undefined || isNext || condition === 'false' ? {} : { stop: condition }
  const at = /^response((?:\.[A-Za-z_]\w*)+)$/.exec(next)?.[1]?.split('.').slice(1)
  const by = isPath ? 'url' : 'cursor'
  if (next === 'links.next' && isPath) return { by: 'link', ...rest, ...stop }
  return { by, ...rest, ...(at ? { at } : { next }), ...stop }
}

const placeOf = (given: unknown): 'query' | 'body' | 'header' | undefined =>
  given === 'request_parameter'
    ? 'query'
    : given === 'body_json' || given === 'body_data'
      ? 'body'
      : given === 'header'
        ? 'header'
        : undefined

/** The name of a parameter, or the keys to it with points. */
function nameIn({ field_name: name, field_path: keys }: JsonObject, notes: Notes): string | undefined {
  const names = (listIn(keys).length > 0 ? listIn(keys) : [name ?? '']).map((one) =>
    templateOf(one, notes, 'retriever.paginator'),
  )
  return names.join('.') || undefined
}
