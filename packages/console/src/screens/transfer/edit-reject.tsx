import { Text, TextInput } from '@mantine/core'
import { limits, type Reject, type Transfer } from '@penstock/wire'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { rejectEdits as say } from '../../strings/reject-edits.ts'

/** Corrects the values of a rejected record, which a replay then sends. A value that is shortened cannot be corrected here. */
export function EditReject({
  transfer: { accountId, connectionId, id },
  reject: { number, row, field, reason, record, edited, structural },
  onClose,
}: {
  transfer: Transfer
  reject: Reject
  onClose: () => void
}) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const save = useWrite('editRejects')
  const now = { ...record, ...edited }
  const send = async () => {
    const changed = Object.keys(record).flatMap((column): [string, string | null][] => {
      const value = column in texts ? (texts[column] ?? '') : (now[column] ?? null)
      // A record that the source could not read is confirmed with all of its columns.
      return value === record[column] && (!structural || isShortened(value)) ? [] : [[column, value]]
    })
    await save.mutateAsync({
      accountId,
      id: connectionId,
      transferId: id,
      body: { edits: [{ number, record: Object.fromEntries(changed) }] },
    })
    return changed.length > 0 ? say.saved : say.restored
  }
  return (
    <FormDialog title={say.title(row)} size="lg" onSubmit={send} onClose={onClose}>
      <Text size="sm">{reason}</Text>
      <Text size="sm" c="dimmed">
        {say.help}
      </Text>
      {structural && <Text size="sm">{say.structuralHelp}</Text>}
      {Object.entries(record).map(([column, read]) => {
        const shortened = isShortened(read)
        const value = texts[column] ?? now[column] ?? ''
        return (
          <TextInput
            key={column}
            label={column}
            value={value}
            disabled={shortened}
            maxLength={limits.rejectEditLengthMax}
            onChange={({ currentTarget }) => setTexts({ ...texts, [column]: currentTarget.value })}
            {...(shortened && { description: say.shortened })}
            {...(!shortened && value !== (read ?? '') && { description: say.was(read) })}
            {...(column === field && { 'data-autofocus': true })}
          />
        )
      })}
    </FormDialog>
  )
}

const isShortened = (value: string | null | undefined): boolean => (value?.length ?? 0) > limits.rejectValueLengthMax
