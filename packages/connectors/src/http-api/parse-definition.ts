import { LineCounter, parseDocument, visit } from 'yaml'
import type { ApiDefinition } from './definition.ts'
import { readDefinition } from './read-definition.ts'
import type { Path, Problem } from './read-part.ts'

/** Levels of lists and objects in a definition. */
const depthMax = 30

/** A definition, or what is wrong with its text: a phrase with line and column, to follow the name of the field. */
export type ParsedDefinition = { readonly definition: ApiDefinition } | { readonly wrong: string }

/** Reads a definition from YAML, of which JSON is a part. Never throws. */
export function parseDefinition(text: string): ParsedDefinition {
  if (deepest(text) > depthMax) return { wrong: `must have at most ${depthMax} levels` }
  const lines = new LineCounter()
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `line ${line}, column ${col}`
  }
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' })
  const [broken] = document.errors
  if (broken) return { wrong: `is not valid YAML or JSON: ${at(broken.pos[0])}: ${broken.message}` }
  let tooClever = false
  visit(document, {
    Alias: () => {
      tooClever = true
      return visit.BREAK
    },
    Collection: (_, _node, path) => {
      tooClever ||= path.length > depthMax * 2
      return tooClever ? visit.BREAK : undefined
    },
  })
  if (tooClever) return { wrong: `must have no aliases (*name), and at most ${depthMax} levels` }
  const problems: Problem[] = []
  const definition = readDefinition(document.toJS() as unknown, problems)
  const [first] = problems
  if (first) return { wrong: `is wrong at ${at(offsetOf(document, first.path))}: ${first.message}` }
  if (!definition) return { wrong: 'is empty' }
  return { definition }
}

/** For the field: what is wrong with a text that should be a definition. */
export function definitionError(text: string): string | undefined {
  const parsed = parseDefinition(text)
  return 'wrong' in parsed ? parsed.wrong : undefined
}

/** Where a value is in the text, or the nearest one around it. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: Path): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)) {
      return Number(node.range[0])
    }
  }
  return 0
}

/** How deep brackets are in each other, at most: the parser itself goes down with each. */
function deepest(text: string): number {
  let depth = 0
  let most = 0
  for (const character of text) {
    if (character === '[' || character === '{') most = Math.max(most, ++depth)
    else if (character === ']' || character === '}') depth = Math.max(0, depth - 1)
  }
  // Items of lists can begin on one line: `- - - a`.
  const dashes = /^\s*((?:[-?]\s+)+)/gm
  for (const [, items = ''] of text.matchAll(dashes)) most = Math.max(most, items.replace(/\s/g, '').length)
  return most
}
