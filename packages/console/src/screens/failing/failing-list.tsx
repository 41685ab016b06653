import {
  Anchor,
  Badge,
  Box,
  Button,
  Card,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Text,
  Title,
  UnstyledButton,
} from '@mantine/core'
import type { AttentionEntry } from '@penstock/wire'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import { Link } from 'react-router'
import { useAddress } from '../../components/address.ts'
import { Loaded } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { Empty, Toolbar } from '../../components/page.tsx'
import { DataTable, NameLink } from '../../components/resource-table.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Sides } from '../../components/sides.tsx'
import { nextRunOf } from '../../components/standing.ts'
import { ConnectionBadge, NextRunWords } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { connections as sayConnections } from '../../strings/connections.ts'
import { failing as say } from '../../strings/failing.ts'
import { overview as sayOverview } from '../../strings/overview.ts'
import { ownStep } from '../transfer/next-steps.ts'
import { type Cause, causeGroupsOf } from './cause.ts'
import { GroupCure } from './group-cure.tsx'
import { matches, reasonOf, titleOf, whereAndSince } from './titles.ts'
import { useFailing } from './use-failing.ts'

const shownFirst = 3
const groupings = ['cause', 'account', 'none'] as const

type ShownGroup = {
  readonly id: string
  readonly title: string
  readonly help?: string
  readonly connections: readonly AttentionEntry[]
  readonly cause?: Cause
}

/** The failing connections, grouped by cause with one cure for each group. The address keeps search, filter and grouping. */
export function FailingList({ accountId }: { accountId: string | undefined }) {
  const { value, change } = useAddress()
  const query = useFailing(accountId)
  const all = query.data?.reply ?? []
  const grouping = groupings.find((one) => one === value('group')) ?? 'cause'
  const kept = all
    .filter((one) => matches(one, value('q')))
    .filter((one) => value('account') === '' || one.accountId === value('account'))
  const groups = groupsBy(grouping, kept)
  const names = new Map(all.map((one) => [one.accountId, one.accountName]))
  return (
    <Stack gap="md">
      <Toolbar>
        <SearchBox label={say.search} />
        {accountId === undefined && names.size > 1 && (
          <Select
            aria-label={say.account}
            data={[{ value: '', label: say.everyAccount }, ...[...names].map(([value, label]) => ({ value, label }))]}
            value={value('account')}
            onChange={(account) => change({ account: account ?? '' })}
            allowDeselect={false}
            searchable
            w={200}
          />
        )}
        <SegmentedControl
          size="sm"
          aria-label={say.groupBy}
          value={grouping}
          onChange={(group) => change({ group: group === 'cause' ? '' : group })}
          data={groupings
            .filter((one) => one !== 'account' || accountId === undefined)
            .map((value) => ({ value, label: say.by[value] }))}
        />
      </Toolbar>
      <Loaded query={query} lines={8}>
        {({ reply, total }) =>
          groups.length === 0 ? (
            <Card withBorder>
              {all.length === 0 ? (
                <Empty title={say.none} help={say.noneHelp} />
              ) : (
                <Empty
                  title={say.noneFound}
                  action={
                    <Button variant="default" onClick={() => change({ q: '', account: '' })}>
                      {sayConnections.showAll}
                    </Button>
                  }
                />
              )}
            </Card>
          ) : (
            <>
              {groups.map((group) => (
                <FailingGroup key={group.id} {...group} />
              ))}
              <Text size="sm" c="dimmed" role="status">
                {say.shown(kept.length, groups.length)} {total > reply.length && say.notAll(count(reply.length))}
              </Text>
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}

function groupsBy(grouping: (typeof groupings)[number], connections: readonly AttentionEntry[]): ShownGroup[] {
  if (connections.length === 0) return []
  if (grouping === 'none') return [{ id: 'all', title: say.connections(connections.length), connections }]
  if (grouping === 'account') {
    const byAccount = Map.groupBy(connections, ({ accountId }) => accountId)
    return [...byAccount].map(([id, of]) => ({ id, title: of[0]?.accountName ?? id, connections: of }))
  }
  const groups = causeGroupsOf(connections)
  const isSingle = ({ cause, connections }: (typeof groups)[number]) =>
    cause.kind === 'connection' && connections.length === 1
  const others = groups.filter(isSingle).flatMap((group) => group.connections)
  const shown: ShownGroup[] = groups
    .filter((group) => !isSingle(group))
    .map((group) => ({
      id: group.cause.key,
      title: titleOf(group),
      connections: group.connections,
      cause: group.cause,
    }))
  if (others.length > 0) shown.push({ id: 'others', title: say.others, help: say.othersHelp, connections: others })
  return shown
}

function FailingGroup({ title, help, connections, cause }: Omit<ShownGroup, 'id'>) {
  const [isOpen, setOpen] = useState(true)
  const [isWhole, setWhole] = useState(false)
  const id = useId()
  const shown = isWhole ? connections : connections.slice(0, shownFirst)
  const { accounts, since } = whereAndSince(connections)
  return (
    <Card withBorder padding={0} component="section" aria-label={title}>
      <Group p="md" gap="md" align="flex-start">
        <Badge size="lg" variant="light" color={cause?.kind === 'waiting' ? 'yellow' : 'red'} autoContrast>
          {count(connections.length)}
        </Badge>
        <Box style={{ flex: '1 1 14rem' }} miw={0}>
          <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          <Text size="sm" c="dimmed" component="div">
            {[accounts, help, cause?.kind === 'waiting' ? say.waitsHelp : ''].filter(Boolean).join(' · ')}
            {since !== undefined && (
              <>
                {' · '}
                {say.since} <Time seconds={since} />
              </>
            )}
          </Text>
        </Box>
        {cause && (
          <Box style={{ flex: '0 1 auto' }}>
            <GroupCure cause={cause} title={title} connections={connections} />
          </Box>
        )}
      </Group>
      <UnstyledButton
        px="md"
        py={6}
        w="100%"
        fz="sm"
        fw={600}
        bg="var(--mantine-color-default-hover)"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Group gap={6}>
          {isOpen ? <IconChevronDown size={16} aria-hidden /> : <IconChevronRight size={16} aria-hidden />}
          {say.connections(connections.length)}
        </Group>
      </UnstyledButton>
      <Box id={id} hidden={!isOpen}>
        {isOpen && <Rows label={say.connectionsOf(connections.length, title)} connections={shown} />}
        {isOpen && shown.length < connections.length && (
          <Button variant="subtle" size="compact-sm" m="xs" onClick={() => setWhole(true)}>
            {say.showMore(connections.length - shown.length)}
          </Button>
        )}
      </Box>
    </Card>
  )
}

const pathTo = ({ accountId, id }: AttentionEntry) => `/accounts/${accountId}/connections/${id}`

function Rows({ label, connections }: { label: string; connections: readonly AttentionEntry[] }): ReactNode {
  return (
    <DataTable
      label={label}
      layout="fixed"
      rows={connections}
      to={pathTo}
      columns={[
        {
          header: sayConnections.name,
          names: true,
          cell: (one) => (
            <>
              <NameLink to={pathTo(one)}>{one.name}</NameLink>
              <Text size="sm" c="dimmed" truncate>
                {one.accountName}
              </Text>
            </>
          ),
        },
        {
          header: sayConnections.sides,
          from: 'lg',
          w: '26%',
          cell: ({ src, dest }) => <Sides src={src} dest={dest} />,
        },
        {
          header: sayConnections.status,
          w: 120,
          cell: ({ status, lastTransfer }) => <ConnectionBadge status={status} transfer={lastTransfer} />,
        },
        {
          header: say.reason,
          from: 'sm',
          w: '28%',
          wraps: true,
          folded: (one) => <Reason connection={one} />,
          cell: (one) => <Reason connection={one} />,
        },
        { header: sayConnections.nextRun, from: 'md', w: 190, cell: (one) => <Next connection={one} /> },
      ]}
    />
  )
}

const Reason = ({ connection }: { connection: AttentionEntry }) => (
  <Text size="sm" lineClamp={2} title={reasonOf(connection)} style={{ overflowWrap: 'anywhere' }}>
    {reasonOf(connection)}
  </Text>
)

/** When the connection runs next, or the page that repairs it. */
function Next({ connection }: { connection: AttentionEntry }) {
  const { status, lastTransfer } = connection
  const step = ownStep(lastTransfer?.error, connection)
  if (step) {
    return (
      <Anchor component={Link} to={step.to} fz="inherit" aria-label={`${step.label}: ${connection.name}`}>
        {step.label}
      </Anchor>
    )
  }
  const next = nextRunOf(status, lastTransfer, undefined)
  if (next.kind !== 'manual') return <NextRunWords next={next} />
  return (
    <Anchor
      component={Link}
      to={`${pathTo(connection)}/transfers/${lastTransfer?.id}`}
      fz="inherit"
      aria-label={`${sayOverview.failedDo}: ${connection.name}`}
    >
      {sayOverview.failedDo}
    </Anchor>
  )
}
