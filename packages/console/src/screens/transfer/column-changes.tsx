import { Alert, List, Stack, Text } from '@mantine/core'
import type { ColumnChange, Connection } from '@penstock/wire'
import { IconColumns } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { notifyDone } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { columnChanges as say } from '../../strings/column-changes.ts'

const shownMax = 20

/** The columns that changed since the last successful transfer. If they stopped it, they can be accepted. */
export function ColumnChanges({
  connection: { accountId, id },
  changes,
  stopped,
  reason,
}: {
  connection: Pick<Connection, 'accountId' | 'id'>
  changes: readonly ColumnChange[]
  /** Whether they stopped the transfer and wait to be accepted. */
  stopped: boolean
  /** Why they cannot be accepted. */
  reason?: string | undefined
}) {
  const set = useWrite('setDrift')
  const whyNot = useForbidden('setDrift') ?? reason
  const [asked, setAsked] = useState(false)
  if (changes.length === 0) return null
  return (
    <Alert color={stopped ? 'yellow' : 'gray'} icon={<IconColumns aria-hidden />} title={say.changed(changes.length)}>
      <Stack gap="xs" align="flex-start">
        <List size="sm" style={{ overflowWrap: 'anywhere' }}>
          {changes.slice(0, shownMax).map(({ side, change, column, from, to }) => (
            <List.Item key={`${side} ${change} ${column}`}>
              {say.change[change](column, from ?? '', to ?? '')} {say.of[side]}
            </List.Item>
          ))}
        </List>
        {changes.length > shownMax && <Text size="sm">{say.more(changes.length - shownMax)}</Text>}
        {stopped && (
          <ReasonedButton size="compact-md" color="yellow.8" reason={whyNot} onClick={() => setAsked(true)}>
            {say.accept}
          </ReasonedButton>
        )}
      </Stack>
      {asked && (
        <Confirm
          title={say.acceptTitle}
          action={say.accept}
          onConfirm={async () => {
            await set.mutateAsync({ accountId, id, body: { accept: true } })
            notifyDone(say.accepted)
          }}
          onClose={() => setAsked(false)}
        >
          {say.acceptHelp}
        </Confirm>
      )}
    </Alert>
  )
}
