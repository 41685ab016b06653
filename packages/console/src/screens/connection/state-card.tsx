import { Alert, Card, Group, Stack, Text, Title } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { IconRowRemove } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { stateCard as say } from '../../strings/state-card.ts'
import { ChangeLog } from './change-log.tsx'
import { CopyAgain } from './copy-again.tsx'

/** The state that the connection keeps between transfers, and the button that has it forget everything. */
export function StateCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, id } = connection
  const query = useRead('getConnectionState', { accountId, id })
  const reset = useWrite('resetConnectionState')
  const whyNot = useForbidden('resetConnectionState') ?? reason
  const [asks, setAsks] = useState(false)
  return (
    <Card withBorder padding="lg">
      <Group justify="space-between" mb="md">
        <Title order={2} size="h4">
          {say.title}
        </Title>
        <ReasonedButton variant="default" reason={whyNot} onClick={() => setAsks(true)}>
          {say.reset}
        </ReasonedButton>
      </Group>
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
      {asks && (
        <Confirm
          title={say.resetTitle}
          action={say.reset}
          onClose={() => setAsks(false)}
          onConfirm={async () => {
            await reset.mutateAsync({ accountId, id, body: { cursor: true, rows: true } })
            notifyDone(say.done)
          }}
        >
          {say.resetHelp}
        </Confirm>
      )}
    </Card>
  )
}
