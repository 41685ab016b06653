import { Badge, Box, Button, Text, Tooltip } from '@mantine/core'
import { type AuditEvent, type AuditOutcome, operations } from '@penstock/wire'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { download } from '../../api/download.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { AccountName } from '../../components/account-name.tsx'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { pageOf } from '../../components/pager.tsx'
import { ResourceTable } from '../../components/resource-table.tsx'
import { Time } from '../../components/time.tsx'
import { useAccountId } from '../../shell/account.ts'
import { audit as say } from '../../strings/audit.ts'
import { EventDetails } from './event-details.tsx'
import { Filters, filterNames } from './filters.tsx'
import { Verified } from './verified.tsx'
import { actionOf, changesOf, targetOf, timeOf } from './words.ts'

const ndjson = 'application/x-ndjson'

/** The second in which a day begins or ends here; undefined if there is no such day. */
function secondOf(day: string, isEnd: boolean): number | undefined {
  const ms = Date.parse(`${day}T${isEnd ? '23:59:59' : '00:00:00'}`)
  return day === '' || Number.isNaN(ms) || ms < 0 ? undefined : Math.floor(ms / 1000)
}

/** The service searches for texts with three letters or digits in a row. */
const searchable = /[\p{L}\p{N}]{3}/u

const filterOf = ({ value }: ListAddress) => ({
  q: searchable.test(value('q')) ? value('q') : undefined,
  from: secondOf(value('from'), false),
  to: secondOf(value('until'), true),
  action: value('action') || undefined,
  actorId: value('actorId') || undefined,
  targetId: value('targetId') || undefined,
})
const listOf = (accountId: string | undefined, address: ListAddress) => ({
  accountId,
  query: { ...filterOf(address), ...pageOf(address) },
})
export const readAhead = (accountId: string | undefined, address: ListAddress) =>
  readOnce('listAudit', listOf(accountId, address))

/** The audit log of the organization or of a sub-account. */
export function Component() {
  const accountId = useAccountId()
  const address = useAddress()
  const query = useRead('listAudit', listOf(accountId, address), { keep: true })
  const [shown, setShown] = useState<AuditEvent>()
  const isFiltered = filterNames.some((name) => address.value(name) !== '')
  const keepOnly = (filter: Readonly<Record<string, string>>) => {
    setShown(undefined)
    address.change(filter)
  }
  return (
    <Page title={say.title} help={say.help} actions={<Export accountId={accountId} />}>
      <Toolbar>
        <Filters events={query.data?.reply ?? []} />
      </Toolbar>
      {address.value('q') !== '' && !searchable.test(address.value('q')) && (
        <Text size="sm" c="dimmed">
          {say.searchHelp}
        </Text>
      )}
      <ResourceTable
        label={say.title}
        top
        query={query}
        lines={10}
        empty={
          <Empty
            title={isFiltered ? say.noneFound : say.none}
            action={
              isFiltered && (
                <Button
                  variant="default"
                  onClick={() => address.change(Object.fromEntries(filterNames.map((name) => [name, ''])))}
                >
                  {say.showAll}
                </Button>
              )
            }
          />
        }
        keyOf={({ number }) => number}
        columns={[
          {
            header: say.when,
            from: 'sm',
            w: 190,
            folded: (event) => (
              <>
                <When seconds={event.time} />
                <Actor event={event} />
              </>
            ),
            cell: ({ time }) => <When seconds={time} />,
          },
          { header: say.who, from: 'sm', w: '20%', wraps: true, cell: (event) => <Actor event={event} /> },
          {
            header: say.what,
            wraps: true,
            cell: (event) => <What event={event} showsAccount={accountId === undefined} />,
          },
        ]}
        actions={(event) => (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={say.detailsOf(count(event.number))}
            onClick={() => setShown(event)}
          >
            {say.details}
          </Button>
        )}
        actionsW={110}
      />
      <Verified />
      {shown && <EventDetails event={shown} onKeepOnly={keepOnly} onClose={() => setShown(undefined)} />}
    </Page>
  )
}

function Export({ accountId }: { accountId: string | undefined }) {
  const address = useAddress()
  const [busy, setBusy] = useState(false)
  const save = () => {
    setBusy(true)
    const given = Object.entries({ ...filterOf(address), accountId }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    )
    download(operations.listAudit.path, Object.fromEntries(given), ndjson, say.fileName)
      .then(() => notifyDone(say.exported))
      .catch(notifyFailure)
      .finally(() => setBusy(false))
  }
  return (
    <Tooltip label={say.exportHelp}>
      <Button variant="default" leftSection={<IconDownload size={18} aria-hidden />} loading={busy} onClick={save}>
        {say.export}
      </Button>
    </Tooltip>
  )
}

function What({ event, showsAccount }: { event: AuditEvent; showsAccount: boolean }) {
  const { action, outcome, accountId, targetId } = event
  const target = targetOf(event)
  return (
    <>
      <Text size="sm" fw={550}>
        {actionOf(action)}
        {target && (
          <Text span inherit fw={400}>
            {' · '}
            {target}
          </Text>
        )}{' '}
        <Outcome outcome={outcome} />
      </Text>
      <Changes event={event} />
      {showsAccount && accountId && accountId !== targetId && (
        <Box fz="sm">
          <AccountName accountId={accountId} page="audit" />
        </Box>
      )}
    </>
  )
}

/** How long ago, and exactly when. */
function When({ seconds }: { seconds: number }) {
  return (
    <>
      <Text size="sm" className="figures">
        {timeOf(seconds)}
      </Text>
      <Text size="xs" c="dimmed">
        <Time seconds={seconds} />
      </Text>
    </>
  )
}

function Actor({ event: { actor, address } }: { event: AuditEvent }) {
  return (
    <>
      <Text size="sm">{actor.name ?? say.kind[actor.kind]}</Text>
      <Text size="xs" c="dimmed">
        {[actor.name !== null && say.kind[actor.kind], address].filter(Boolean).join(' · ')}
      </Text>
    </>
  )
}

const colors: Readonly<Record<AuditOutcome, string>> = { done: 'teal', refused: 'orange', failed: 'red' }

/** The outcome `done` needs no text. */
function Outcome({ outcome }: { outcome: AuditOutcome }) {
  if (outcome === 'done') return null
  return (
    <Badge variant="dot" color={colors[outcome]} fw={500} ml={4} style={{ verticalAlign: 'middle' }}>
      {say.outcome[outcome]}
    </Badge>
  )
}

const changesShown = 2

/** Changed values, before and after, in one line. Values of new resources are in the details. */
function Changes({ event }: { event: AuditEvent }) {
  // Every change sets this time: it is in the details.
  const { updatedTime: _, ...after } = event.after ?? {}
  const { updatedTime: __, ...before } = event.before ?? {}
  const changes = event.before && event.after ? changesOf({ before, after }) : []
  if (changes.length === 0) return null
  const more = changes.length - changesShown
  return (
    <Text size="sm" c="dimmed" lineClamp={2}>
      {changes.slice(0, changesShown).map(({ field, before, after }, at) => (
        <span key={field}>
          {at > 0 && ' · '}
          {field} <s>{before}</s> → <b>{after}</b>
        </span>
      ))}
      {more > 0 && ` ${say.more(count(more))}`}
    </Text>
  )
}
