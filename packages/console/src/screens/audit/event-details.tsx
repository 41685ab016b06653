import { Button, Code, Group, Modal, Stack, Title } from '@mantine/core'
import type { AuditEvent } from '@penstock/wire'
import { AccountName } from '../../components/account-name.tsx'
import { count } from '../../components/numbers.ts'
import { DataTable } from '../../components/resource-table.tsx'
import { audit as say } from '../../strings/audit.ts'
import { actionOf, changesOf, detailsOf } from './words.ts'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

/** Everything that is known of an event, and the way to those like it. */
export function EventDetails({
  event,
  onKeepOnly,
  onClose,
}: {
  event: AuditEvent
  /** Filters the list. */
  onKeepOnly: (filter: Readonly<Record<string, string>>) => void
  onClose: () => void
}) {
  const { number, time, actor, address, requestId, action, accountId, targetId, outcome } = event
  const changes = changesOf(event)
  const facts = [
    { name: say.time, value: exact.format(new Date(time * 1000)) },
    {
      name: say.who,
      value: (
        <>
          {[actor.name, say.kind[actor.kind]].filter(Boolean).join(' · ')} {actor.id && <Code>{actor.id}</Code>}
        </>
      ),
    },
    { name: say.address, value: address },
    { name: say.outcomeTitle, value: say.outcome[outcome] },
    { name: say.account, value: accountId && <AccountName accountId={accountId} page="audit" /> },
    { name: say.resource, value: targetId && <Code>{targetId}</Code> },
    { name: say.requestId, value: requestId && <Code>{requestId}</Code> },
    ...detailsOf(event).map(([name, value]) => ({ name, value })),
  ]
  return (
    <Modal opened onClose={onClose} title={`${say.event(count(number))}: ${actionOf(action)}`} size="xl">
      <Stack>
        <DataTable
          verticalSpacing={6}
          top
          rows={facts.filter(({ value }) => value)}
          columns={[
            { names: true, w: '24%', cell: ({ name }) => name },
            { wraps: true, cell: ({ value }) => value },
          ]}
        />
        {changes.length > 0 && (
          <div>
            <Title order={3} size="h6">
              {say.changes}
            </Title>
            <DataTable
              label={say.changes}
              minWidth={480}
              verticalSpacing={6}
              rows={changes}
              columns={[
                { header: say.field, w: '24%', wraps: true, cell: ({ field }) => field },
                { header: say.before, w: '38%', wraps: true, cell: ({ before }) => before },
                { header: say.after, wraps: true, cell: ({ after }) => after },
              ]}
            />
          </div>
        )}
        <Group justify="flex-end">
          {actor.id && (
            <Button variant="default" onClick={() => onKeepOnly({ actorId: actor.id ?? '' })}>
              {say.onlyActor}
            </Button>
          )}
          {targetId && (
            <Button variant="default" onClick={() => onKeepOnly({ targetId })}>
              {say.onlyTarget}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}
