import { Group, Text, TextInput } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { backfill as say } from '../../strings/backfill.ts'

/** Asks for two days, and starts a transfer that reads them. */
export function BackfillDialog({ connection, onClose }: { connection: ConnectionDetails; onClose: () => void }) {
  const { accountId, id, name, src } = connection
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const start = useWrite('startTransfer')
  return (
    <FormDialog
      title={say.title(name)}
      action={say.start}
      invalid={{
        'backfill.from': from === '' && say.missing,
        'backfill.to': to === '' ? say.missing : to < from && say.order,
      }}
      onClose={onClose}
      onSubmit={async () => {
        await start.mutateAsync({ accountId, id, body: { backfill: { from, to } } })
        return say.started(from, to)
      }}
    >
      {(errorOf) => (
        <>
          <Group align="flex-start" grow>
            <TextInput
              type="date"
              label={say.from}
              value={from}
              error={errorOf('backfill.from')}
              onChange={({ currentTarget }) => setFrom(currentTarget.value)}
              data-autofocus
            />
            <TextInput
              type="date"
              label={say.to}
              value={to}
              error={errorOf('backfill.to')}
              onChange={({ currentTarget }) => setTo(currentTarget.value)}
            />
          </Group>
          <Text size="sm">{say.help(src.connectorName)}</Text>
          <Text size="sm" c="dimmed">
            {say.again}
          </Text>
        </>
      )}
    </FormDialog>
  )
}
