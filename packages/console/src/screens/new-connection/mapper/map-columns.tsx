import { Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { useDeferredValue, useState } from 'react'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { isOnlyRead, linesOf } from '../created/readings.ts'
import { columnText, type Line, type Lines } from '../mapping/mapping.ts'
import { ColumnLine, type LineEditor } from './column-line.tsx'
import { AllColumns, SameColumns, UnsentColumns } from './column-lists.tsx'
import { tokensOf } from './expression/tokens.ts'

/** For a destination that takes any columns: all columns of the source unchanged, or the named ones. Every column is listed. */
export function MapColumns({
  foldsRead,
  ...editor
}: Omit<LineEditor, 'onRemove'> & {
  /** Columns of which only the reading is chosen are shown in one row each. */
  foldsRead: boolean
}) {
  const { lines, columns, samples, wrong, onChange } = editor
  const [text, setText] = useState('')
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const picks = lines.length > 0
  const searched = useDeferredValue(text.trim().toLowerCase())
  const found = lines.flatMap((line, index) => (isFound(line, searched) || wrong.has(index) ? [{ line, index }] : []))
  // Lines that are invalid or new are never out of sight.
  const shown = found.filter(
    ({ line, index }, at) => (foldsRead ? !isOnlyRead(line) : at < shownMax) || wrong.has(index) || opened.has(index),
  )
  const folded = found.filter((one) => !shown.includes(one))
  const all = [...new Set(columns)].filter((column) => column !== '')
  const used = usedIn(lines, all)
  const lineOf = (column: string): Line => ({ field: column, entry: { kind: 'column', column } })
  const open = (index: number) => setOpened(new Set([...opened, index]))
  const remove = (removed: number) => {
    setOpened(new Set([...opened].filter((at) => at !== removed).map((at) => (at > removed ? at - 1 : at))))
    onChange(lines.filter((_, index) => index !== removed))
  }
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label={say.whichColumns}
        value={picks ? 'picked' : 'all'}
        onChange={(next) => onChange(next === 'all' ? [] : all.length > 0 ? linesOf(all) : [newLine])}
        data={[
          { value: 'all', label: say.allColumns },
          { value: 'picked', label: say.pickedColumns },
        ]}
        // A control that is too narrow for its texts scrolls: texts of two lines have another height than the others.
        style={{ alignSelf: 'flex-start', maxWidth: '100%', overflowX: 'auto' }}
      />
      {!picks && columns && <AllColumns columns={all} samples={samples} />}
      {lines.length > searchedFrom && (
        <TextInput
          aria-label={say.searchColumns}
          placeholder={say.searchColumns}
          leftSectionPointerEvents="none"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          maw={360}
        />
      )}
      {picks && (
        <Stack gap="xs" component="ul" p={0} m={0}>
          {shown.map(({ line, index }) => (
            <ColumnLine key={index} editor={{ ...editor, onRemove: remove }} line={line} index={index} />
          ))}
        </Stack>
      )}
      {folded.length > 0 && <SameColumns lines={folded} samples={samples} onOpen={open} onRemove={remove} />}
      {picks && found.length === 0 && (
        <Text size="sm" c="dimmed" role="status">
          {say.noColumn}
        </Text>
      )}
      {picks && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => {
              open(lines.length)
              onChange([...lines, newLine])
            }}
          >
            {say.addColumn}
          </Button>
        </Group>
      )}
      {picks && columns && (
        <UnsentColumns
          columns={all.filter((column) => !used.has(column))}
          samples={samples}
          searched={searched}
          onAdd={(column) => {
            open(lines.length)
            onChange([...lines, lineOf(column)])
          }}
        />
      )}
    </Stack>
  )
}

const isFound = ({ field, entry }: Line, searched: string): boolean =>
  `${field}\n${entry.kind === 'column' ? entry.column : ''}`.toLowerCase().includes(searched)

/** The columns that are sent or part of an expression. */
function usedIn(lines: Lines, columns: readonly string[]): ReadonlySet<string> {
  const known = new Set(columns)
  const partsOf = (expression: string) =>
    new Set(tokensOf(expression, known).flatMap(({ kind, text }) => (kind === 'column' ? [text] : [])))
  const used = lines.flatMap(({ entry }) => {
    if (entry.kind === 'column') return [entry.column]
    if (entry.kind !== 'expression') return []
    const parts = partsOf(entry.expression)
    return columns.filter((column) => parts.has(column) || parts.has(columnText(column)))
  })
  return new Set(used)
}

/** Lines with all of their inputs. Further lines are listed, and open when they are needed, so that typing stays quick. */
const shownMax = 30
const searchedFrom = 8

const newLine: Line = { field: '', entry: { kind: 'column', column: '' } }
