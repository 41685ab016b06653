import { Alert, Anchor, Button, Card, Group, Stack, Tabs, Text } from '@mantine/core'
import type { ResultOf } from '@penstock/client'
import { type ConnectionDetails, limits, type Transfer } from '@penstock/wire'
import { IconAlertTriangle, IconTrash } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { useRead, useReadIfAny } from '../../api/queries.ts'
import { Activate } from '../../components/activate.tsx'
import { useAddress } from '../../components/address.ts'
import { Confirm } from '../../components/confirm.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { Lines, NotRead, NotReadAgain } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { Page } from '../../components/page.tsx'
import { lastResultOf, nextRunOf, refusesCredentials } from '../../components/standing.ts'
import { ConnectionBadge, NextRunWords } from '../../components/status.tsx'
import { Time, useNow } from '../../components/time.tsx'
import { connection as say } from '../../strings/connection.ts'
import { rejects as sayRejects } from '../../strings/rejects.ts'
import { standing as words } from '../../strings/standing.ts'
import { wayToList } from '../connections/remembered-list.ts'
import { Cured, useIsCuredRead } from '../failing/cured.tsx'
import { RecentColumnChanges, StoppedByColumns } from '../transfer/column-changes.tsx'
import { Failed } from '../transfer/failed.tsx'
import { NothingRead } from '../transfer/nothing-read.tsx'
import { pathOfTransfer } from '../transfer/paths.ts'
import { useIsSettled } from '../transfer/rejects/use-rejects.ts'
import { needsConfirmation, ReplaceGuard } from '../transfer/replace-guard.tsx'
import { Actions } from './actions.tsx'
import { Active } from './active-transfer.tsx'
import { BackfillDialog } from './backfill.tsx'
import { SlotOf } from './change-log.tsx'
import { Configuration } from './configuration.tsx'
import { EditConnection } from './edit-connection.tsx'
import { Flow } from './flow.tsx'
import { Refusal } from './not-ready.tsx'
import { Overview } from './overview.tsx'
import type { Action } from './reasons.ts'
import { RouteLine } from './route-line.tsx'
import { movesTables, Tables } from './tables.tsx'
import { TestDialog } from './test-transfer.tsx'
import { History } from './timeline.tsx'
import { Transfers } from './transfers.tsx'
import { useActions } from './use-actions.ts'
import { hasWaitingColumns, isActive, isStoppedByColumns, useConnection, useReasons } from './use-connection.ts'

const daySeconds = 86_400

/** One connection: its connection, what can be done with it, and what it did. */
export function Component() {
  const { accountId, query, newest, latest, isRead } = useConnection()
  const [shownId, show] = useState<string>()
  const id = query.data?.reply.id
  const isCuredRead = useIsCuredRead(accountId)
  if (isRead && isCuredRead && id !== shownId) show(id)
  if (!query.data || id !== shownId) {
    return (
      <Page title={say.title}>
        <NotRead query={query} />
        {!query.isError && <Lines lines={8} />}
      </Page>
    )
  }
  return (
    <>
      <NotReadAgain query={query} />
      <Shown key={query.data.reply.id} result={query.data} newest={newest} latest={latest} />
    </>
  )
}

function Shown({
  result,
  newest,
  latest,
}: {
  result: ResultOf<'getConnection'>
  /** May be a test. */
  newest: Transfer | undefined
  latest: Transfer | undefined
}) {
  const connection = result.reply
  const reasons = useReasons(connection, newest)
  const doing = useActions(connection)
  const [dialog, open] = useDialog()
  const moves = isActive(newest)
  const isDeleted = connection.status === 'deleted'
  const { accountId, id } = connection
  const mayBeStopped = isStoppedByColumns(latest) && !isDeleted
  const drift = useRead('getDrift', { accountId, id }, { enabled: mayBeStopped })
  const isStopped = mayBeStopped && hasWaitingColumns(drift.data?.reply)
  const does: Readonly<Record<Action, () => unknown>> = {
    run: doing.run,
    duplicate: doing.duplicate,
    restore: doing.restore,
    enable: () => doing.move('enable'),
    edit: () => open((close) => <EditConnection opened={{ connection, version: result.etag }} onClose={close} />),
    test: () => open((close) => <TestDialog connection={connection} onClose={close} />),
    backfill: () => open((close) => <BackfillDialog connection={connection} onClose={close} />),
    activate: () =>
      open((close) => (
        <Activate connection={connection} onActivate={() => void doing.move('activate')} onClose={close} />
      )),
    disable: () =>
      open((close) => (
        <Confirm
          title={say.disableTitle(connection.name)}
          action={say.disable}
          onConfirm={() => doing.move('disable')}
          onClose={close}
        >
          {say.disableHelp}
          <SlotOf connection={connection} when="whenDisabled" />
        </Confirm>
      )),
    delete: () =>
      open((close) => (
        <Confirm title={say.deleteTitle(connection.name)} action={say.delete} onConfirm={doing.remove} onClose={close}>
          {say.deleteHelp}
          <SlotOf connection={connection} when="whenDeleted" />
        </Confirm>
      )),
  }
  return (
    <Page
      title={connection.name}
      help={<Facts connection={connection} latest={latest} />}
      actions={
        <Actions connection={connection} reasons={reasons} busy={doing.busy} onDo={(action) => void does[action]()} />
      }
    >
      {isDeleted && <DaysLeft deletedTime={connection.updatedTime} />}
      {doing.refusal !== undefined && (
        <Refusal error={doing.refusal} connection={connection} onEdit={does.edit} onDismiss={doing.dismiss} />
      )}
      <Card withBorder padding="lg" component="section" aria-label={say.flow}>
        <Flow connection={connection} newest={newest} latest={latest} />
        <RouteLine connection={connection} latest={latest} />
      </Card>
      <Cured
        accountId={accountId}
        except={refusesCredentials(latest) ? id : undefined}
        concerns={({ connectorId }) => [connection.src.connectorId, connection.dest.connectorId].includes(connectorId)}
      />
      {newest && moves && <Active transfer={newest} />}
      {newest && moves && <Failed transfer={newest} connection={connection} />}
      {latest && !isDeleted && needsConfirmation(latest) && (
        <ReplaceGuard
          connection={connection}
          error={latest.error}
          reason={reasons.run}
          onTransfer={() => doing.run(true)}
        />
      )}
      {isStopped ? (
        <StoppedByColumns connection={connection} reason={reasons.run} />
      ) : (
        <RecentColumnChanges connection={connection} />
      )}
      {latest?.status === 'failed' && !isDeleted && !needsConfirmation(latest) && !isStopped && (
        <Failed transfer={latest} connection={connection} title={say.latestFailed}>
          <Button component={Link} to={pathOfTransfer(latest)} size="compact-sm" variant="default">
            {say.open}
          </Button>
        </Failed>
      )}
      {latest && <NothingRead transfer={latest} />}
      {latest && <RejectedRows transfer={latest} />}
      <Parts>
        {{
          overview: <Overview connection={connection} latest={latest} reason={reasons.edit} />,
          ...(movesTables(connection) && {
            tables: <Tables connection={connection} reasons={reasons} moves={moves} />,
          }),
          transfers: <Transfers connection={connection} />,
          timeline: <History connection={connection} />,
          configuration: <Configuration connection={connection} reason={reasons.edit} onEdit={does.edit} />,
        }}
      </Parts>
      {dialog}
    </Page>
  )
}

/** Leads to the rows that the newest transfer rejected, until all of them are accepted. */
function RejectedRows({ transfer }: { transfer: Transfer }) {
  const { read, rejected } = transfer.records
  const isSettled = useIsSettled(transfer)
  if (transfer.status !== 'partial' || rejected === 0 || isSettled) return null
  return (
    <Alert
      color="orange"
      icon={<IconAlertTriangle aria-hidden />}
      title={sayRejects.titleOf(rejected, count(rejected), count(read))}
      role="status"
    >
      <Button component={Link} to={pathOfTransfer(transfer)} size="compact-sm" variant="default">
        {say.seeRejected}
      </Button>
    </Alert>
  )
}

/** How it is doing: its status, its last transfer and its next one. */
function Facts({ connection, latest }: { connection: ConnectionDetails; latest: Transfer | undefined }) {
  const { accountId, id, status } = connection
  const schedule = useReadIfAny('getSchedule', { accountId, id }, { againAfterMs: 30_000 })
  return (
    <Group gap="sm" mt={6}>
      <ConnectionBadge status={status} transfer={latest} />
      {latest && (
        <span>
          {words.last}{' '}
          <Text span inherit fw={600}>
            {words.result[lastResultOf(latest)]}
          </Text>{' '}
          <Time seconds={latest.finishedTime ?? latest.createdTime} />
        </span>
      )}
      {status !== 'deleted' && (
        <span>
          {words.next} <NextRunWords next={nextRunOf(status, latest, schedule.data?.reply)} />
        </span>
      )}
      <Anchor component={Link} to={wayToList(accountId)} fz="inherit">
        {say.all}
      </Anchor>
    </Group>
  )
}

/** A deleted connection changes no more: its last change was its deletion. */
function DaysLeft({ deletedTime }: { deletedTime: number }) {
  // The clock of the page may be some seconds behind.
  const leftSeconds = limits.restoreWindowDays * daySeconds - Math.max(0, useNow() / 1000 - deletedTime)
  return (
    <Alert color="gray" icon={<IconTrash aria-hidden />} title={say.isDeleted}>
      {say.daysLeft(Math.ceil(leftSeconds / daySeconds))}
    </Alert>
  )
}

const tabs = ['overview', 'tables', 'transfers', 'timeline', 'configuration'] as const
type Tab = (typeof tabs)[number]

/** The parts of the page; the address says which one is shown. A connection of one table has no tables. */
function Parts({ children }: { children: Readonly<Partial<Record<Tab, ReactNode>>> }) {
  const own = tabs.filter((tab) => tab in children)
  const { value, change } = useAddress()
  const shown = own.find((tab) => tab === value('tab')) ?? 'overview'
  return (
    <Tabs
      value={shown}
      onChange={(tab) => change({ tab: tab === 'overview' || tab === null ? '' : tab, status: '', q: '' })}
      keepMounted={false}
    >
      <Tabs.List aria-label={say.tabs} mb="md" style={{ flexWrap: 'nowrap', overflowX: 'auto' }}>
        {own.map((tab) => (
          <Tabs.Tab key={tab} value={tab}>
            {say[tab]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Stack gap={0}>
        {own.map((tab) => (
          <Tabs.Panel key={tab} value={tab}>
            {children[tab]}
          </Tabs.Panel>
        ))}
      </Stack>
    </Tabs>
  )
}
