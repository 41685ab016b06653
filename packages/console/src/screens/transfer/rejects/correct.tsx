import { Box, Button, Collapse, Group, Kbd, Radio, SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core'
import type { Connection, Reject, Transfer } from '@penstock/wire'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useWrite } from '../../../api/queries.ts'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { count } from '../../../components/numbers.ts'
import { modifier } from '../../../shell/hot-keys.ts'
import { rejects as sayRejects } from '../../../strings/rejects.ts'
import { ColumnInput } from './column-input.tsx'
import { columnsOf, editsOf, inCalls, ownEditsOf, rowsOf, type Scope, type Values } from './correction.ts'
import { type FieldOfRecord, faultyColumns, lastFaults, type ReasonGroup, reasonsOf, shapeOf } from './groups.ts'
import { titleOf, valuesInWords } from './reasons.tsx'
import { rowInWords } from './reject-table.tsx'
import { Sent } from './sent.tsx'

const say = sayRejects.correct

/**
 * Corrects a rejected row, all rows of a reason by one value, or each of them one after another; and sends them again with one
 * button. The faulty columns are first.
 */
export function Correct({
  transfer: { accountId, connectionId, id },
  connection,
  group,
  reject: opened,
  columnOf,
  start,
  correctedBefore,
  reason,
  onClose,
}: {
  transfer: Transfer
  connection: Connection
  /** The reason of the row, with all rows that have it. */
  group: ReasonGroup
  reject: Reject
  /** The column that fills a field. */
  columnOf: (fault: FieldOfRecord) => string | undefined
  /** The rows that are corrected unless the user chooses others. */
  start: Scope
  /** How many other rows have corrections that are not sent yet. */
  correctedBefore: (numbers: ReadonlySet<number>) => number
  /** Why nothing can be sent now; undefined if it can. */
  reason: string | undefined
  onClose: () => void
}) {
  const { column } = group
  const open = group.rejects.filter(({ editable }) => editable)
  const [scope, setScope] = useState<Scope>(start)
  const [at, setAt] = useState(0)
  const [changedBy, setChangedBy] = useState<ReadonlyMap<number, Values>>(new Map())
  const [showsOthers, setShowsOthers] = useState(false)
  const isEach = scope === 'each'
  const reject = isEach ? (open[at] ?? opened) : opened
  const { structural, record, edited } = reject
  const last = lastFaults(reject)
  const reasons = reasonsOf(reject, columnOf)
  const shape = shapeOf(reject)
  const changed = changedBy.get(reject.number) ?? {}
  const canShare = column !== undefined && !structural && open.length > 1
  const alike = rowsOf('same', reject, group.rejects, column)
  const save = useWrite('editRejects')
  const resend = useWrite('replayTransfer')
  const rows = rowsOf(scope, reject, group.rejects, column)
  const edits = isEach ? ownEditsOf(open, changedBy) : editsOf(rows, reject, column, changed)
  const { faulty, others } = columnsOf(reject, faultyColumns(last, columnOf), shape)
  const firstOthers = faulty.length === 0
  const isChanged = isEach ? edits.length > 0 : Object.keys(changed).length > 0
  const before = correctedBefore(new Set((isEach ? edits : rows).map(({ number }) => number)))
  const sent = edits.filter((edit) => Object.keys(edit.record).length > 0).length
  const hasNext = isEach && at + 1 < open.length
  const fields = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the place says which row is shown.
  useEffect(() => {
    if (isEach) fields.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus()
  }, [isEach, at])
  const shownOf = (name: string): string | null =>
    Object.hasOwn(changed, name) ? (changed[name] ?? null) : ({ ...record, ...edited }[name] ?? null)
  const of = { accountId, id: connectionId, transferId: id }
  const store = async () => {
    for (const call of inCalls(edits)) await save.mutateAsync({ ...of, body: { edits: [...call] } })
  }
  const saveOnly = async () => {
    await store()
    return sent > 0 ? say.saved(sent, count(sent)) : say.restored(edits.length, count(edits.length))
  }
  const saveAndResend = async () => {
    await store()
    const { already } = await resend.mutateAsync({ ...of, query: { rows: 'corrected' } })
    return already ? say.waits : say.sending(sent + before, count(sent + before))
  }
  const next = async () => {
    setAt(at + 1)
  }
  const sends = reason === undefined && sent > 0
  const isDisabled = isEach ? !isChanged : !isChanged && !structural && !edited
  const willSend = sends ? sent : isDisabled && reason === undefined && !isEach ? rows.length : 0
  const submit = {
    action: willSend > 0 ? say.saveAndResend(count(willSend + before)) : say.save,
    onSubmit: sends ? saveAndResend : saveOnly,
  }
  const input = (name: string, isFirst: boolean) => (
    <ColumnInput
      key={`${reject.number} ${name}`}
      column={name}
      read={record[name] ?? null}
      value={shownOf(name)}
      isFirst={isFirst}
      proposes={column !== undefined && faulty.includes(name)}
      onChange={(value) => setChangedBy(new Map([...changedBy, [reject.number, { ...changed, [name]: value }]]))}
    />
  )
  return (
    <FormDialog
      title={
        rows.length > 1
          ? sayRejects.correctRows(rows.length, count(rows.length))
          : say.titleOf(reject.row === null ? undefined : rowInWords(reject))
      }
      size="lg"
      gap="sm"
      {...(hasNext ? { action: say.next, onSubmit: next } : { ...submit, disabled: isDisabled })}
      other={
        hasNext ? { ...submit, disabled: isDisabled } : sends ? { action: say.save, onSubmit: saveOnly } : undefined
      }
      onClose={onClose}
    >
      {isEach && (
        <Group justify="space-between" gap="sm">
          <Text size="sm" fw={600} role="status">
            {say.step(count(at + 1), count(open.length))} · {rowInWords(reject)}
          </Text>
          {at > 0 && (
            <Button variant="subtle" size="compact-sm" onClick={() => setAt(at - 1)}>
              {say.previous}
            </Button>
          )}
        </Group>
      )}
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {say.place(isEach ? 1 : open.length, count(open.length), structural ? titleOf(group) : reasons[0])}
      </Text>
      {reasons.slice(1).map((reason) => (
        <Text key={reason} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {reason}
        </Text>
      ))}
      {structural && <Text size="sm">{whereItBreaks(reject)}</Text>}
      <div ref={fields}>
        <Fields
          names={firstOthers ? others : faulty}
          input={(name, i) =>
            input(
              name,
              firstOthers || faulty.length === 1 ? i === 0 : i === (structural && column === undefined ? 1 : 0),
            )
          }
        />
      </div>
      {canShare && (
        <Radio.Group label={say.scope} value={scope} onChange={(value) => setScope(value as Scope)}>
          <Stack gap={6} mt={6}>
            <Radio value="all" label={say.all(count(open.length))} />
            <Box
              tabIndex={0}
              role="group"
              aria-label={say.values}
              ml={32}
              mah={88}
              fz="xs"
              c="dimmed"
              style={{ overflowY: 'auto', overflowWrap: 'anywhere' }}
            >
              {valuesInWords(group.values)}
            </Box>
            {alike.length > 1 && alike.length < open.length && (
              <Radio value="same" label={say.same(valuesInWords([[record[column] ?? null, 1]]), count(alike.length))} />
            )}
            {start === 'one' ? (
              <Radio value="one" label={say.one(rowInWords(reject))} />
            ) : (
              <Radio value="each" label={say.each} />
            )}
          </Stack>
        </Radio.Group>
      )}
      {!firstOthers && (
        <Box>
          <UnstyledButton fz="sm" aria-expanded={showsOthers} onClick={() => setShowsOthers(!showsOthers)}>
            {showsOthers ? (
              <IconChevronDown size={16} aria-hidden style={{ verticalAlign: 'middle' }} />
            ) : (
              <IconChevronRight size={16} aria-hidden style={{ verticalAlign: 'middle' }} />
            )}{' '}
            {say.others(others.length)}
          </UnstyledButton>
          <Collapse expanded={showsOthers}>
            <Box mt="sm">{showsOthers && <Fields names={others} input={(name) => input(name, false)} />}</Box>
          </Collapse>
        </Box>
      )}
      {column !== undefined && isChanged && !isEach && (
        <Sent destination={connection.dest.connectorName} rows={rows} column={column} value={shownOf(column)} />
      )}
      <Text size="sm" c="dimmed">
        {reason ?? (sent > 0 ? say.sends(sent, count(sent)) : say.unchanged)} {sends && say.checked}{' '}
        {sends && before > 0 && say.sendsToo(before, count(before))}
      </Text>
      {sends && !hasNext && (
        <Text size="xs" c="dimmed" ta="right" visibleFrom="sm">
          <Kbd size="xs">{modifier}</Kbd> <Kbd size="xs">Enter</Kbd> {sayRejects.keys.send}
        </Text>
      )}
    </FormDialog>
  )
}

/** Inputs of columns; two columns of them if there are many. */
function Fields({ names, input }: { names: readonly string[]; input: (name: string, at: number) => ReactNode }) {
  return (
    <SimpleGrid cols={names.length > 2 ? { base: 1, sm: 2 } : 1} verticalSpacing="sm">
      {names.map(input)}
    </SimpleGrid>
  )
}

/** Where a row that the source could not read is broken. */
function whereItBreaks(reject: Reject): string {
  const shape = shapeOf(reject)
  if (!shape) return say.unread
  if (shape.has > shape.needs) return say.endsBehind(shape.has, shape.needs)
  return say.endsAfter(shape.has, Object.keys(reject.record)[shape.has - 1] ?? '')
}
