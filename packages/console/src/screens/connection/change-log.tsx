import { Alert, Code, Group, Stack, Text } from '@mantine/core'
import type { ConnectionDetails, ConnectionState } from '@penstock/wire'
import { IconDatabaseExclamation } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { DialogButton } from '../../components/form-dialog.tsx'
import { bytes, count } from '../../components/numbers.ts'
import { Time } from '../../components/time.tsx'
import { changeLog as say } from '../../strings/change-log.ts'

type Log = NonNullable<ConnectionState['changeLog']>

/** The log from which a connection reads changes, slots that it left, and the button that drops its slot. */
export function ChangeLog({
  connection,
  state: { changeLog: log, leftSlots = [] },
  reason,
}: {
  connection: ConnectionDetails
  state: Pick<ConnectionState, 'changeLog' | 'leftSlots'>
  reason: string | undefined
}) {
  return (
    <>
      {log && <Measured connection={connection} log={log} reason={reason} />}
      {leftSlots.length > 0 && (
        <Alert color="yellow" icon={<IconDatabaseExclamation aria-hidden />} title={say.leftTitle}>
          <Stack gap="xs">
            {leftSlots.map(({ slot, server, stays, problem, statement }) => (
              <div key={`${server} ${slot}`}>
                <Text size="sm">
                  {stays ? say.stays(slot, server, problem ?? '') : say.leaving(slot, server)}
                  {!stays && problem !== null && ` ${say.leavingProblem(problem)}`}
                </Text>
                {stays && <Code block>{statement}</Code>}
              </div>
            ))}
          </Stack>
        </Alert>
      )}
    </>
  )
}

function Measured({
  connection: { accountId, id, status },
  log,
  reason,
}: {
  connection: ConnectionDetails
  log: Log
  reason: string | undefined
}) {
  const whyNot = useForbidden('resetConnectionState') ?? reason
  const { slot, server, measuredTime, deliveredTime, problem } = log
  const isWarning = log.warns && log.status !== null
  return (
    <Stack gap={4} component="section" aria-label={say.title}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
          {slot === null ? say.binaryLog(server) : say.slot(slot, server)}
        </Text>
        {slot !== null && (
          <DialogButton
            size="compact-sm"
            reason={whyNot}
            dialog={(close) => (
              <ConfirmWrite
                title={say.dropTitle(slot)}
                action={say.drop}
                operation="resetConnectionState"
                parameters={{ accountId, id, body: { slot: true } }}
                done={say.dropped}
                onClose={close}
              >
                {say.dropHelp}
              </ConfirmWrite>
            )}
          >
            {say.drop}
          </DialogButton>
        )}
      </Group>
      {isWarning ? (
        <Alert color="yellow" icon={<IconDatabaseExclamation aria-hidden />} title={say.warning}>
          <Text size="sm">{linesOf(log, status === 'disabled')}</Text>
        </Alert>
      ) : (
        <Text size="sm">{measuredTime === null ? say.notMeasured : linesOf(log, status === 'disabled')}</Text>
      )}
      {problem !== null && <Text size="sm">{say.problem(problem)}</Text>}
      {measuredTime !== null && (
        <Text size="sm" c="dimmed">
          {deliveredTime !== null && (
            <>
              {say.delivered} <Time seconds={deliveredTime} />
              {'. '}
            </>
          )}
          {say.measured} <Time seconds={measuredTime} />
        </Text>
      )}
    </Stack>
  )
}

/** The figures of a log, in sentences. */
function linesOf(log: Log, isDisabled: boolean): string {
  const { status, keptBytes, limitBytes, behindBytes, behindFiles, keptSeconds } = log
  const lines = [status && say.status[status]]
  if (keptBytes !== null) {
    const kept = bytes(keptBytes)
    lines.push(
      isDisabled ? say.keptIdle(kept) : limitBytes === null ? say.kept(kept) : say.keptOf(kept, bytes(limitBytes)),
    )
  }
  if (behindBytes !== null) {
    lines.push(behindFiles === null ? say.behind(bytes(behindBytes)) : say.behindFiles(bytes(behindBytes), behindFiles))
  }
  if (keptSeconds !== null) lines.push(say.removesAfter(count(Math.round(keptSeconds / 3600))))
  return lines.filter(Boolean).join(' ')
}

/** Says how an action affects the slot of a connection, before it happens; nothing if it has none. */
export function SlotOf({
  connection: { accountId, id },
  when,
}: {
  connection: Pick<ConnectionDetails, 'accountId' | 'id'>
  when: 'whenDisabled' | 'whenDeleted' | 'whenChanged'
}) {
  const log = useRead('getConnectionState', { accountId, id }).data?.reply.changeLog
  if (!log?.slot) return null
  const size = log.keptBytes === null ? undefined : bytes(log.keptBytes)
  return (
    <Text size="sm" mt="sm">
      {say[when](log.slot, size)}
    </Text>
  )
}
