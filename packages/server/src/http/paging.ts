/**
 * The headers of a page (RFC 8288): the envelope's array has no place for them.
 * @param address the request's own, without its query
 * @param asked the request's query as it came; what it asks besides size and offset stays in every link
 */
export function pageHeaders(
  address: string,
  asked: Readonly<Record<string, unknown>>,
  { size, offset }: { size: number; offset: number },
  total: number,
): Record<string, string> {
  let kept = ''
  for (const [name, value] of Object.entries(asked)) {
    if (name === 'size' || name === 'offset') continue
    for (const one of [value].flat()) kept += `${encodeURIComponent(name)}=${encodeURIComponent(String(one))}&`
  }
  const link = (rel: string, at: number) => `<${address}?${kept}size=${size}&offset=${at}>; rel="${rel}"`
  const last = Math.max(0, Math.ceil(total / size) - 1) * size
  const links = [link('first', 0)]
  if (offset > 0) links.push(link('prev', Math.max(0, Math.min(offset - size, last))))
  if (offset + size < total) links.push(link('next', offset + size))
  links.push(link('last', last))
  return { 'x-total-count': String(total), link: links.join(', ') }
}
