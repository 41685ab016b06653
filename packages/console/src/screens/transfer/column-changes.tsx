import { Alert, List, Stack, Text } from '@mantine/core'
import type { ColumnChange, Connection } from '@penstock/wire'
import { IconColumns } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { DialogButton } from '../../components/form-dialog.tsx'
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
  const whyNot = useForbidden('setDrift') ?? reason
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
          <DialogButton
            size="compact-md"
            variant="filled"
            color="yellow.8"
            reason={whyNot}
            dialog={(close) => (
              <ConfirmWrite
                title={say.acceptTitle}
                action={say.accept}
                operation="setDrift"
                parameters={{ accountId, id, body: { accept: true } }}
                done={say.accepted}
                onClose={close}
              >
                {say.acceptHelp}
              </ConfirmWrite>
            )}
          >
            {say.accept}
          </DialogButton>
        )}
      </Stack>
    </Alert>
  )
}
