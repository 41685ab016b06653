import { Alert, Stack, Text } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { IconRowRemove } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { DialogButton } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { stateCard as say } from '../../strings/state-card.ts'
import { ChangeLog } from './change-log.tsx'
import { CopyAgain } from './copy-again.tsx'

/** The state that the connection keeps between transfers, and the button that has it forget everything. */
export function StateCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, id } = connection
  const query = useRead('getConnectionState', { accountId, id })
  const forbidden = useForbidden('resetConnectionState')
  const reset = (
    <DialogButton
      reason={forbidden ?? reason}
      dialog={(close) => (
        <ConfirmWrite
          title={say.resetTitle}
          action={say.reset}
          operation="resetConnectionState"
          parameters={{ accountId, id, body: { cursor: true, rows: true } }}
          done={say.done}
          onClose={close}
        >
          {say.resetHelp}
        </ConfirmWrite>
      )}
    >
      {say.reset}
    </DialogButton>
  )
  return (
    <Section title={say.title} action={reset}>
      <Loaded query={query} lines={2} quiet>
        {({ reply: { cursor, rows, since, mirrored, removed, afresh, removedRowsStay, changeLog, leftSlots } }) => (
          <Stack gap="xs">
            <Text size="sm">{afresh ?? (cursor ? say.cursor : say.noCursor)}</Text>
            {removedRowsStay !== undefined && (
              <Alert color="yellow" icon={<IconRowRemove aria-hidden />} title={say.removedRowsStay}>
                <Text size="sm" mb="xs">
                  {removedRowsStay}
                </Text>
                <CopyAgain connection={connection} />
              </Alert>
            )}
            <Text size="sm">{rows > 0 ? say.rows(rows, count(rows)) : say.noRows}</Text>
            {mirrored && <Text size="sm">{say.mirrored(removed, count(removed))}</Text>}
            <ChangeLog
              connection={connection}
              state={{ ...(changeLog && { changeLog }), ...(leftSlots && { leftSlots }) }}
              reason={reason}
            />
            {since !== null && (
              <Text size="sm" c="dimmed">
                {say.since} <Time seconds={since} />
              </Text>
            )}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}
