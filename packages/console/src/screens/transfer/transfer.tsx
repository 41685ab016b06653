import { Alert, Anchor, Badge, Grid, Group } from '@mantine/core'
import type { Connection, ConnectionDetails, Reject, Transfer } from '@penstock/wire'
import { IconFlask, IconPlayerStop, IconSend } from '@tabler/icons-react'
import { Link, useNavigate, useParams } from 'react-router'
import { useForbiddenOf } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { DialogButton, useDialog } from '../../components/form-dialog.tsx'
import { Lines, Loaded, NotRead, NotReadAgain } from '../../components/loaded.tsx'
import { notifyDone } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { Page } from '../../components/page.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { TransferBadge, TransferTag, transferColors } from '../../components/status.tsx'
import { connection as sayConnection } from '../../strings/connection.ts'
import { rejects as sayRejects } from '../../strings/rejects.ts'
import { transfer as say } from '../../strings/transfer.ts'
import { CancelTransfer } from '../connection/active-transfer.tsx'
import {
  hasWaitingColumns,
  isActive,
  isStoppedByColumns,
  useReadAgainAfter,
  useReasons,
} from '../connection/use-connection.ts'
import { ColumnChanges, StoppedByColumns } from './column-changes.tsx'
import { Failed } from './failed.tsx'
import { Log } from './log.tsx'
import { NothingRead } from './nothing-read.tsx'
import { Parts } from './parts.tsx'
import { pathOfConnection, pathOfTransfer } from './paths.ts'
import { BigProgress, RecordSummary } from './record-summary.tsx'
import { columnFinder } from './rejects/groups.ts'
import { Rejects } from './rejects/rejects.tsx'
import { Resend } from './rejects/resend.tsx'
import {
  countStates,
  isCorrectedFirst,
  readyStates,
  useFirstRejects,
  useIsSettled,
  useResent,
} from './rejects/use-rejects.ts'
import { needsConfirmation, ReplaceGuard } from './replace-guard.tsx'
import { RuleResults } from './rule-results.tsx'
import { Timing } from './timing.tsx'

const liveMs = 1_500
const idleMs = 15_000

/** One transfer of a connection: the account of its rows, and what became of each that was not taken. */
export function Component() {
  const { accountId = '', connectionId = '', transferId = '' } = useParams()
  const of = { accountId, id: connectionId }
  const query = useRead(
    'getTransfer',
    { ...of, transferId },
    { againAfterMs: (result) => (isActive(result?.reply) ? liveMs : idleMs) },
  )
  const connection = useRead('getConnection', of)
  useReadAgainAfter(isActive(query.data?.reply))
  if (!query.data || !connection.data) {
    return (
      <Page title={say.title}>
        {query.isError ? (
          <NotRead query={query} />
        ) : (
          <Loaded query={connection} lines={8}>
            {() => <Lines lines={8} />}
          </Loaded>
        )}
      </Page>
    )
  }
  return (
    <>
      <NotReadAgain query={query} />
      <Shown transfer={query.data.reply} connection={connection.data.reply} readMs={query.dataUpdatedAt} />
    </>
  )
}

function Shown({
  transfer,
  connection,
  readMs,
}: {
  transfer: Transfer
  connection: ConnectionDetails
  /** When the transfer was read, in milliseconds. */
  readMs: number
}) {
  const { accountId, connectionId } = transfer
  const moves = isActive(transfer)
  const latest = useRead('listTransfers', { accountId, id: connectionId, query: { size: 1 } })
  const reasons = useReasons(connection, latest.data?.reply[0])
  const isStopped = isStoppedByColumns(transfer) && latest.data?.reply[0]?.id === transfer.id
  const drift = useRead('getDrift', { accountId, id: connectionId }, { enabled: isStopped })
  const waits = isStopped && hasWaitingColumns(drift.data?.reply)
  const forbidden = useForbiddenOf()
  const [dialog, open] = useDialog()
  const start = useWrite('startTransfer')
  const navigate = useNavigate()
  const resent = useResent(transfer)
  const isSettled = useIsSettled(transfer)
  const rejects = useFirstRejects(transfer)
  const corrected = countStates(rejects).get('corrected') ?? 0
  const reasonNotToResend = forbidden('replayTransfer') ?? refusalToResend(transfer, rejects, reasons.run)
  return (
    <Page
      title={say.titleOf(connection.name)}
      help={<Facts transfer={transfer} connection={connection} />}
      actions={
        <>
          {moves && (
            <ReasonedButton
              variant="default"
              leftSection={<IconPlayerStop size={18} aria-hidden />}
              reason={forbidden('cancelTransfer')}
              onClick={() => open((close) => <CancelTransfer transfer={transfer} onClose={close} />)}
            >
              {say.cancel}
            </ReasonedButton>
          )}
          {!isSettled && (
            <DialogButton
              variant={isCorrectedFirst(rejects, columnFinder(connection)) ? 'default' : 'filled'}
              leftSection={<IconSend size={18} aria-hidden />}
              reason={reasonNotToResend}
              dialog={(close) => <Resend transfer={transfer} rejects={rejects} onClose={close} />}
            >
              {corrected > 0 ? sayRejects.resend.actionCorrected(count(corrected)) : sayRejects.resend.action}
            </DialogButton>
          )}
        </>
      }
    >
      {needsConfirmation(transfer) ? (
        <ReplaceGuard
          connection={connection}
          error={transfer.error}
          reason={reasons.run}
          onTransfer={async () => {
            const started = await start.mutateAsync({ accountId, id: connectionId, body: { confirm: true } })
            notifyDone(started.already ? sayConnection.already : sayConnection.started(connection.name))
            void navigate(pathOfTransfer(started.reply))
          }}
        />
      ) : waits ? (
        <StoppedByColumns
          connection={connection}
          reason={reasons.run}
          onStarted={(started) => void navigate(pathOfTransfer(started))}
        />
      ) : null}
      {!needsConfirmation(transfer) && (!waits || transfer.error?.code === 'tables_failed') && (
        <Failed transfer={transfer} connection={connection} />
      )}
      {!waits && (
        <ColumnChanges
          connection={connection}
          changes={transfer.columnChanges}
          seconds={transfer.startedTime ?? transfer.createdTime}
        />
      )}
      {transfer.test && (
        <Alert color="gray" icon={<IconFlask aria-hidden />}>
          {say.isTest}
        </Alert>
      )}
      {moves && <BigProgress transfer={transfer} />}
      <Grid gap="md" align="stretch">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <RecordSummary transfer={transfer} resent={resent} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Timing transfer={transfer} nowMs={readMs} />
        </Grid.Col>
      </Grid>
      <NothingRead transfer={transfer} />
      <RuleResults transfer={transfer} />
      <Rejects transfer={transfer} connection={connection} reason={forbidden('replayTransfer') ?? reasons.run} />
      <Parts transfer={transfer} />
      <Log transfer={transfer} />
      {dialog}
    </Page>
  )
}

function refusalToResend(
  transfer: Transfer,
  rejects: readonly Reject[],
  reasonNotToTransfer: string | undefined,
): string | undefined {
  if (isActive(transfer)) return sayRejects.resend.running
  if (transfer.test) return sayRejects.resend.test
  if (transfer.records.rejected === 0) return sayRejects.resend.none
  const isLocked = rejects.some(({ state }) => state === 'needs_correction')
  if (isLocked && !rejects.some(({ state }) => readyStates.includes(state))) return sayRejects.resend.locked
  return reasonNotToTransfer
}

function Facts({ transfer, connection }: { transfer: Transfer; connection: Connection }) {
  const isSettled = useIsSettled(transfer)
  const path = pathOfConnection({ accountId: connection.accountId, connectionId: connection.id })
  return (
    <Group gap="sm" mt={6}>
      {isSettled ? (
        <Badge variant="dot" color={transferColors.succeeded} fw={500}>
          {say.settled}
        </Badge>
      ) : (
        <TransferBadge transfer={transfer} />
      )}
      <TransferTag transfer={transfer} />
      <Anchor component={Link} to={path} fz="inherit">
        {say.of}
      </Anchor>
      <Anchor component={Link} to={`${path}?tab=transfers`} fz="inherit">
        {say.all}
      </Anchor>
    </Group>
  )
}
