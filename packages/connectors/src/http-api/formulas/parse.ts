import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { callable, FormulaError, formulaLimits } from './values.ts'

/** The roots that an expression can name, such as `record`, by the place in which it stands. */
export type Roots = ReadonlySet<string>

/** An expression that was read. */
export type Formula = { readonly text: string; readonly root: ASTNode }

// Only the parser is used, as for the expressions of mappings: the evaluator of the library has no bounds.
const environment = new Environment({
  limits: {
    maxAstNodes: formulaLimits.nodes,
    maxDepth: formulaLimits.depth,
    maxListElements: formulaLimits.items,
    maxMapEntries: formulaLimits.items,
  },
})
const read = new Map<string, Formula>()
const readMax = 1_000

/** Reads an expression in the syntax of CEL. Throws `FormulaError` with a phrase that follows `The expression`. */
export function parseFormula(text: string): Formula {
  const known = read.get(text)
  if (known) return known
  if (text.length > formulaLimits.length) throw new FormulaError(`has more than ${formulaLimits.length} characters`)
  let root: ASTNode
  try {
    root = environment.parse(text).ast
  } catch {
    throw new FormulaError('is not valid')
  }
  const formula = { text, root }
  if (read.size >= readMax) read.clear()
  read.set(text, formula)
  return formula
}

/** A name that an expression has: its root and the keys behind it, such as `cursor`, `start`. */
export type FormulaName = readonly [root: string, ...keys: string[]]

/** The names in an expression, without those of items of lists. Throws `FormulaError` for a function that does not exist. */
export const namesOfFormula = ({ root }: Formula): readonly FormulaName[] => namesIn(root, [])

function namesIn(node: ASTNode, items: readonly string[]): FormulaName[] {
  const name = nameOf(node)
  if (name) return items.includes(name[0]) ? [] : [name]
  const all = (nodes: readonly ASTNode[]) => nodes.flatMap((one) => namesIn(one, items))
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
      return namesIn(node.args[0], items)
    case '!_':
    case '-_':
      return namesIn(node.args, items)
    case 'list':
      return all(node.args)
    case 'map':
      return node.args.flatMap((pair) => all(pair))
    case 'call':
      return namesInCall(node.args[0], node.args[1], items)
    case 'rcall':
      return namesInCall(node.args[0], [node.args[1], ...node.args[2]], items)
    case '.?':
    case '[?]':
      throw new FormulaError('has an operator that is not supported')
    default:
      return all(node.args as readonly ASTNode[])
  }
}

function namesInCall(name: string, args: readonly ASTNode[], items: readonly string[]): FormulaName[] {
  if (!callable.has(name)) throw new FormulaError(`calls ${name}, which is not known`)
  if (name !== 'map' && name !== 'filter' && name !== 'exists') return args.flatMap((one) => namesIn(one, items))
  const [of, item, body] = args
  if (!of || item?.op !== 'id' || !body || args.length > 3) throw new FormulaError(`needs list.${name}(item, …)`)
  return [...namesIn(of, items), ...namesIn(body, [...items, item.args])]
}

function nameOf(node: ASTNode): FormulaName | undefined {
  if (node.op === 'id') return [node.args]
  if (node.op === '.') {
    const below = nameOf(node.args[0])
    return below && [...below, node.args[1]]
  }
  return undefined
}
