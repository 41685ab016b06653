import { ConnectorError } from '@penstock/connector'

/** An element has no more characters than this. */
const elementMax = 16 << 20

/**
 * The texts of the elements of a list in a JSON document that arrives in pieces. The document is never in memory as a whole.
 * @param path the keys that lead to the list; empty if the document is the list. `*` is every key: the elements of all such
 * lists Throws `malformed_response` if the document has no such list, or ends before it does.
 */
export async function* elementsIn(
  pieces: AsyncIterable<string>,
  path: readonly string[],
  name: string,
): AsyncGenerator<string> {
  /** The containers that are open, `{` or `[`, and the key at which each object is. */
  const open: { readonly isObject: boolean; key: string; wantsKey: boolean }[] = []
  let target = 0
  let isText = false
  let escaped = false
  let text = ''
  let element = ''
  let isOver = false
  const isEvery = path.includes('*')
  for await (const piece of pieces) {
    if (isOver) continue
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      if (isText) {
        if (escaped) escaped = false
        else if (code === 92) escaped = true
        else if (code === 34) isText = false
        else if (target > 0) continue
        const here = open.at(-1)
        if (target > 0 || !here?.wantsKey) continue
        if (isText) text += piece[at]
        else here.key = text
        continue
      }
      if (code === 34) {
        isText = true
        text = ''
      } else if (code === 123 || code === 91) {
        const isHere = code === 91 && target === 0 && open.length === path.length && isAt()
        open.push({ isObject: code === 123, key: '', wantsKey: code === 123 })
        if (isHere) {
          target = open.length
          from = at + 1
        }
      } else if (code === 125 || code === 93) {
        if (target > 0 && open.length === target) {
          const last = element + piece.slice(from, at)
          if (last.trim() !== '') yield last
          if (!isEvery) {
            isOver = true
            break
          }
          element = ''
          target = 0
        }
        open.pop()
        if (isEvery && open.length === 0) {
          isOver = true
          break
        }
      } else if (code === 44) {
        const here = open.at(-1)
        if (here?.isObject) here.wantsKey = true
        if (target > 0 && open.length === target) {
          yield element + piece.slice(from, at)
          element = ''
          from = at + 1
        }
      } else if (code === 58) {
        const here = open.at(-1)
        if (here) here.wantsKey = false
      }
    }
    if (target > 0 && !isOver) {
      element += piece.slice(from)
      if (element.length > elementMax) throw problem(`${name} has an element that is too large.`)
    }
  }
  if (!isOver) throw problem(`${name} is not a JSON list of rows, or ends early.`)

  function isAt(): boolean {
    return path.every((key, index) => open[index]?.isObject && (key === '*' || open[index].key === key))
  }
}

const problem = (message: string) => new ConnectorError('malformed_response', message)
