/**
 * The links of a page (RFC 8288), because the envelope's array has no place for them.
 * @param address the address of the request, without its query
 * @param asked the original query of the request. Every link keeps its parameters except size and offset
 * @param isMore there are more entries than `total`, so the last page is not known
 */
export function pageLinks(
  address: string,
  asked: Readonly<Record<string, unknown>>,
  { size, offset }: { size: number; offset: number },
  total: number,
  isMore = false,
): string {
  let kept = ''
  for (const name in asked) {
    if (name === 'size' || name === 'offset') continue
    const value = asked[name]
    if (Array.isArray(value)) for (const one of value) kept += parameter(name, one)
    else kept += parameter(name, value)
  }
  const link = (rel: string, at: number) => `<${address}?${kept}size=${size}&offset=${at}>; rel="${rel}"`
  const last = Math.max(0, Math.ceil(total / size) - 1) * size
  let links = link('first', 0)
  if (offset > 0) links += `, ${link('prev', Math.max(0, Math.min(offset - size, last)))}`
  if (offset + size < total) links += `, ${link('next', offset + size)}`
  return isMore ? links : `${links}, ${link('last', last)}`
}

const parameter = (name: string, value: unknown) => `${encode(name)}=${encode(String(value))}&`

/** Most names and values are identifiers and numbers, which need no encoding. */
const encode = (text: string) => (/^\w*$/.test(text) ? text : encodeURIComponent(text))
