/** The headers of a page (RFC 8288): the envelope's array has no room for them. */
export function pageHeaders(
  address: URL,
  { size, offset }: { size: number; offset: number },
  total: number,
): Record<string, string> {
  const last = Math.max(0, Math.ceil(total / size) - 1) * size
  const links: string[] = []
  const link = (rel: string, at: number) => {
    const target = new URL(address)
    target.searchParams.set('size', String(size))
    target.searchParams.set('offset', String(at))
    links.push(`<${target.href}>; rel="${rel}"`)
  }
  link('first', 0)
  if (offset > 0) link('prev', Math.max(0, Math.min(offset - size, last)))
  if (offset + size < total) link('next', offset + size)
  link('last', last)
  return { 'x-total-count': String(total), link: links.join(', ') }
}
