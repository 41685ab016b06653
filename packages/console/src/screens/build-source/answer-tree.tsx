import { type CSSProperties, type KeyboardEvent, type MouseEvent, useId, useMemo, useRef, useState } from 'react'
import { count } from '../../components/numbers.ts'
import { buildSource as say } from '../../strings/build-source.ts'
import { columnAt, entriesOf, isContainer, matches, shown } from './answer-json.ts'
import classes from './build-source.module.css'
import { entriesStep, keyOfPlace, nodesOf, pickOf, type TreeNode, type TreePick, type TreeState } from './tree.ts'

/** The JSON of an answer, of which values are picked: by a click, or with the arrow keys and Enter. */
export function AnswerTree({
  answer,
  records,
  hasRecords,
  columns,
  next,
  onPick,
}: {
  answer: unknown
  /** The path to the records. */
  records: readonly string[]
  /** Whether the answer has records there. */
  hasRecords: boolean
  /** The columns that were chosen. */
  columns: readonly string[]
  /** The path of the value that leads to the next page. */
  next: readonly string[]
  onPick: (pick: TreePick, value: unknown) => void
}) {
  const [state, setState] = useState<TreeState>({ open: new Map(), limits: new Map() })
  const [active, setActive] = useState(0)
  const tree = useRef<HTMLDivElement>(null)
  const help = useId()
  const nodes = useMemo(() => nodesOf(answer, hasRecords ? records : [], state), [answer, records, hasRecords, state])
  const current = Math.min(active, nodes.length - 1)

  const setOpen = ({ place }: TreeNode, isOpen: boolean) =>
    setState(({ open, limits }) => ({ limits, open: new Map(open).set(keyOfPlace(place), isOpen) }))
  const tagOf = (node: TreeNode): keyof typeof say.tags | undefined => {
    if (node.hidden !== undefined) return undefined
    if (hasRecords && Array.isArray(node.value) && matches(node.place, records)) return 'records'
    if (next.length > 0 && keyOfPlace(next) === keyOfPlace(node.place)) return 'next'
    const column = hasRecords ? columnAt(answer, node.place, records) : undefined
    return column !== undefined && columns.includes(column) ? 'column' : undefined
  }
  const act = (node: TreeNode) => {
    if (node.hidden !== undefined) {
      const key = keyOfPlace(node.place)
      setState(({ open, limits }) => ({
        open,
        limits: new Map(limits).set(key, (limits.get(key) ?? entriesStep) + 4 * entriesStep),
      }))
      return
    }
    const pick = pickOf(answer, node, records, hasRecords)
    if (pick.kind === 'open') setOpen(node, !node.isOpen)
    else onPick(pick, node.value)
  }
  const move = (to: number) => {
    const at = Math.max(0, Math.min(nodes.length - 1, to))
    setActive(at)
    tree.current?.querySelectorAll<HTMLElement>('[role="treeitem"]')[at]?.focus()
  }
  const press = (event: KeyboardEvent) => {
    const node = nodes[current]
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return
    const parent = nodes.findLastIndex(({ depth }, at) => at < current && depth < node.depth)
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(current + 1),
      ArrowUp: () => move(current - 1),
      Home: () => move(0),
      End: () => move(nodes.length - 1),
      ArrowRight: () => (isContainer(node.value) && !node.isOpen ? setOpen(node, true) : move(current + 1)),
      ArrowLeft: () => (node.isOpen ? setOpen(node, false) : move(Math.max(0, parent))),
      Enter: () => act(node),
      ' ': () => act(node),
    }
    const does = keys[event.key]
    if (!does) return
    event.preventDefault()
    does()
  }
  const lineOf = (target: EventTarget): number => {
    const line = target instanceof Element ? target.closest<HTMLElement>('[data-at]') : null
    return line ? Number(line.dataset.at) : -1
  }
  const click = ({ target }: MouseEvent) => {
    const node = nodes[lineOf(target)]
    if (!node) return
    if (target instanceof Element && target.closest('[data-caret]')) setOpen(node, !node.isOpen)
    else act(node)
  }

  return (
    <>
      <div
        ref={tree}
        className={classes.tree}
        role="tree"
        aria-label={say.tree}
        aria-describedby={help}
        aria-multiselectable
        tabIndex={-1}
        onClick={click}
        onFocus={({ target }) => setActive(Math.max(0, lineOf(target)))}
        onKeyDown={press}
      >
        {nodes.map((node, at) => {
          const tag = tagOf(node)
          const isIn =
            hasRecords && records.length < node.place.length && matches(node.place.slice(0, records.length), records)
          return (
            <div
              key={`${keyOfPlace(node.place)}${node.hidden ?? ''}`}
              role="treeitem"
              className={classes.node}
              style={{ '--depth': node.depth } as CSSProperties}
              data-at={at}
              data-inside={isIn || undefined}
              tabIndex={at === current ? 0 : -1}
              aria-level={node.depth + 1}
              aria-posinset={node.position}
              aria-setsize={node.siblings}
              aria-selected={tag !== undefined}
              {...(isContainer(node.value) && { 'aria-expanded': node.isOpen })}
            >
              <Line node={node} tag={tag} />
            </div>
          )
        })}
      </div>
      <p id={help} hidden>
        {say.treeHelp}
      </p>
    </>
  )
}

function Line({ node, tag }: { node: TreeNode; tag: keyof typeof say.tags | undefined }) {
  const { name, value, isOpen, hidden } = node
  if (hidden !== undefined) return <span>{say.showMore(count(hidden))}</span>
  return (
    <>
      <span className={classes.caret} data-caret={isContainer(value) || undefined} aria-hidden>
        {isContainer(value) ? (isOpen ? '▾' : '▸') : ''}
      </span>
      {name !== undefined && <span className={classes.key}>{name}:</span>}
      <span className={classes.value}>{isContainer(value) ? sizeOf(value) : shown(value)}</span>
      {tag !== undefined && <span className={classes.tag}>{say.tags[tag]}</span>}
    </>
  )
}

function sizeOf(value: unknown): string {
  const size = entriesOf(value).length
  if (Array.isArray(value)) return `[ ${size === 1 ? say.oneItem : say.items(count(size))} ]`
  return `{ ${size === 1 ? say.oneKey : say.keys(count(size))} }`
}
