import { Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { type ConnectionDetails, limits, type Reject, type Transfer } from '@penstock/wire'
import { useMemo } from 'react'
import { useAddress } from '../../../components/address.ts'
import { Loaded } from '../../../components/loaded.tsx'
import { count } from '../../../components/numbers.ts'
import { Empty, Toolbar } from '../../../components/page.tsx'
import { SearchBox } from '../../../components/search-box.tsx'
import { rejects as say } from '../../../strings/rejects.ts'
import { isActive } from '../../connection/use-connection.ts'
import { Download } from './download.tsx'
import { columnFinder, groupsOf } from './groups.ts'
import { KeepRejects } from './keep-rejects.tsx'
import { Reasons } from './reasons.tsx'
import classes from './rejects.module.css'
import { RowsOfReason } from './rows-of-reason.tsx'
import { chunk, useIsSettled, useRejects } from './use-rejects.ts'

/** The address names all reasons; without a name, the largest one is shown. */
const everyReason = '*'

/** The rows that were not taken: by reason, to correct and to send again, and all of them to download. */
export function Rejects({
  transfer,
  connection,
  reason,
}: {
  transfer: Transfer
  connection: ConnectionDetails
  /** Why nothing can be sent again now; undefined if it can. */
  reason: string | undefined
}) {
  const { records } = transfer
  const moves = isActive(transfer)
  const { query, q, from } = useRejects(transfer)
  const total = query.data?.total ?? 0
  const isSettled = useIsSettled(transfer)
  const isThere = total > 0 || q !== ''
  return (
    <Stack component="section" gap="md">
      <Group justify="space-between" gap="sm">
        <Title order={2} size="h4">
          {isSettled
            ? say.allResent(records.rejected, count(records.rejected))
            : records.rejected > 0
              ? say.titleOf(records.rejected, count(records.rejected), count(records.read))
              : say.title}
        </Title>
        {isThere && (
          <Group gap="sm">
            <KeepRejects connection={connection} />
            <Download transfer={transfer} />
          </Group>
        )}
      </Group>
      <Loaded query={query} quiet>
        {({ reply }) => {
          if (!isThere) {
            return (
              <Card withBorder padding={0}>
                <NoRejects transfer={transfer} moves={moves} />
              </Card>
            )
          }
          const isCounted = reply.some(({ count: n }) => n > 1)
          return (
            <Stack gap="md">
              <Toolbar>
                <SearchBox label={say.search} />
              </Toolbar>
              {!moves && q === '' && records.rejected > total && !isCounted && (
                <Text size="sm">{say.kept(count(total), count(records.rejected))}</Text>
              )}
              {q !== '' && records.rejected > limits.rejectsSearchedMax && (
                <Text size="sm" c="dimmed">
                  {say.searched(count(limits.rejectsSearchedMax))}
                </Text>
              )}
              <Parts from={from} shown={reply.length} total={total} />
              {reply.length === 0 ? (
                <Card withBorder padding={0}>
                  <Empty title={say.noneFound} />
                </Card>
              ) : (
                <ByReason transfer={transfer} connection={connection} rejects={reply} reason={reason} />
              )}
            </Stack>
          )
        }}
      </Loaded>
    </Stack>
  )
}

function NoRejects({ transfer: { records }, moves }: { transfer: Transfer; moves: boolean }) {
  const { read, rejected, accepted } = records
  if (rejected > 0) return <Empty title={say.gone(rejected, count(rejected))} help={say.goneHelp} />
  if (moves) return <Empty title={say.noneSoFar} />
  return <Empty title={accepted > 0 ? say.none(accepted, count(accepted)) : read > 0 ? say.noneOf : say.noneRead} />
}

/** Which rows are grouped, if these are not all, and the way to the others. */
function Parts({ from, shown, total }: { from: number; shown: number; total: number }) {
  const { change } = useAddress()
  if (total <= shown) return null
  const go = (start: number) => change({ from: start > 0 ? String(start) : '', reason: '', state: '' })
  return (
    <Group gap="sm">
      <Text size="sm">{say.partOf(count(from + 1), count(from + shown), count(total))}</Text>
      {from > 0 && (
        <Button variant="default" size="compact-sm" onClick={() => go(from - chunk)}>
          {say.earlier}
        </Button>
      )}
      {from + shown < total && (
        <Button variant="default" size="compact-sm" onClick={() => go(from + chunk)}>
          {say.later}
        </Button>
      )}
    </Group>
  )
}

function ByReason({
  transfer,
  connection,
  rejects,
  reason,
}: {
  transfer: Transfer
  connection: ConnectionDetails
  rejects: readonly Reject[]
  reason: string | undefined
}) {
  const { value, change } = useAddress()
  const columnOf = useMemo(() => columnFinder(connection), [connection])
  const groups = useMemo(() => groupsOf(rejects, columnOf), [rejects, columnOf])
  const named = value('reason')
  const chosen = named === everyReason ? undefined : (groups.find(({ key }) => key === named) ?? groups[0])
  return (
    <div className={classes.columns}>
      <Reasons
        groups={groups}
        chosen={chosen?.key}
        onChoose={(key) => change({ reason: key ?? everyReason, state: '' })}
      />
      <RowsOfReason
        transfer={transfer}
        connection={connection}
        rejects={rejects}
        groups={groups}
        group={chosen}
        columnOf={columnOf}
        reason={reason}
      />
    </div>
  )
}
