import type { ApiRequest } from './definition.ts'
import { checkTemplates, type KnownNames, type OperationNames } from './read-names.ts'
import type { Part } from './read-part.ts'
import { headerName, isOwnHeader } from './read-stream-parts.ts'
import { partsOf } from './template.ts'

/** Keys of a request, without its method. */
export const requestKeys = ['server', 'path', 'query', 'headers', 'body', 'form'] as const

/** Reads a request from a part of a definition. @param known names in its templates */
export function readRequest(part: Part, known: KnownNames | OperationNames): ApiRequest {
  const body = part.has('body') ? part.object.body : undefined
  const form = part.has('form') ? textsOf(part, 'form') : undefined
  if (body !== undefined && form !== undefined) part.wrong('A request has either body or form.', 'form')
  const headers = textsOf(part, 'headers')
  for (const name of Object.keys(headers)) {
    if (!headerName.test(name)) part.wrong('The name of a header has letters, digits, - and _.', 'headers', name)
    else if (isOwnHeader(name)) part.wrong(`The header ${name} is set by the connector.`, 'headers', name)
  }
  const query = textsOf(part, 'query')
  const path = pathOf(part)
  for (const [key, value] of Object.entries({ path, query, headers, body, form })) {
    checkTemplates(part, [key], value, known)
  }
  const server = part.text('server', /^[\w-]{1,50}$/, 'the name of one of the other servers of the connector')
  return {
    ...(server === undefined ? {} : { server }),
    path,
    query,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(form && { form }),
  }
}

function pathOf(part: Part): string {
  const path = part.needed('path', /^\/[^\p{Cc}]*$/u, 'a path that begins with / and has no query')
  const texts = (partsOf(path) ?? []).map((one) => ('text' in one ? one.text : 'x')).join('')
  if (/[?#\\]/.test(texts)) part.wrong('path must be a path that begins with / and has no query.', 'path')
  if (/\s/.test(texts)) part.wrong('path must have no spaces; write %20.', 'path')
  if (/(^|\/)\.\.?(\/|$)/.test(texts)) part.wrong('path must not have . or .. as a segment.', 'path')
  return path
}

/** Texts by name; numbers and truths become texts. */
export function textsOf(part: Part, key: string): Record<string, string> {
  const given = part.part(key)
  const entries = Object.entries(given?.object ?? {}).flatMap(([name, value]): [string, string][] => {
    if (['string', 'number', 'boolean'].includes(typeof value)) return [[name, String(value)]]
    given?.wrong(`${name} must be a text.`, name)
    return []
  })
  return Object.fromEntries(entries)
}
