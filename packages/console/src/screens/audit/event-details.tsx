import { Button, Code, Group, Modal, Stack, Table, Text, Title } from '@mantine/core'
import type { AuditEvent } from '@penstock/wire'
import type { ReactNode } from 'react'
import { AccountName } from '../../components/account-name.tsx'
import { Sideways } from '../../components/list-table.tsx'
import { count } from '../../components/numbers.ts'
import { audit as say } from '../../strings/audit.ts'
import { actionInWords, changesOf, detailsOf } from './words.ts'

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
  const { number, time, actor, address, requestId, action, accountId, targetId, outcome, hash } = event
  const changes = changesOf(event)
  const details = detailsOf(event)
  return (
    <Modal opened onClose={onClose} title={`${say.event(count(number))}: ${actionInWords(action)}`} size="xl">
      <Stack>
        <Table verticalSpacing={6} style={{ overflowWrap: 'anywhere' }}>
          <Table.Tbody>
            <Fact name={say.time}>{exact.format(new Date(time * 1000))}</Fact>
            <Fact name={say.who}>
              {[actor.name, say.kind[actor.kind]].filter(Boolean).join(' · ')} {actor.id && <Code>{actor.id}</Code>}
            </Fact>
            {address && <Fact name={say.address}>{address}</Fact>}
            <Fact name={say.outcomeTitle}>{say.outcome[outcome]}</Fact>
            <Fact name={say.actionId}>
              <Code>{action}</Code>
            </Fact>
            {accountId && (
              <Fact name={say.account}>
                <AccountName accountId={accountId} page="audit" />
              </Fact>
            )}
            {targetId && (
              <Fact name={say.resource}>
                <Code>{targetId}</Code>
              </Fact>
            )}
            {requestId && (
              <Fact name={say.requestId}>
                <Code>{requestId}</Code>
              </Fact>
            )}
            {details.map(([name, value]) => (
              <Fact key={name} name={name}>
                {value}
              </Fact>
            ))}
            <Fact name={say.hash}>
              <Code>{hash}</Code>
            </Fact>
          </Table.Tbody>
        </Table>
        {changes.length > 0 && (
          <div>
            <Title order={3} size="h6">
              {say.changes}
            </Title>
            <Sideways label={say.changes} minWidth={480}>
              <Table verticalSpacing={6} style={{ overflowWrap: 'anywhere' }}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th w="24%">{say.field}</Table.Th>
                    <Table.Th w="38%">{say.before}</Table.Th>
                    <Table.Th>{say.after}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {changes.map(({ field, before, after }) => (
                    <Table.Tr key={field}>
                      <Table.Td>{field}</Table.Td>
                      <Table.Td>{before}</Table.Td>
                      <Table.Td>{after}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Sideways>
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

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th w="24%" fw={500} style={{ verticalAlign: 'top' }}>
        {name}
      </Table.Th>
      <Table.Td>
        <Text component="div" size="sm">
          {children}
        </Text>
      </Table.Td>
    </Table.Tr>
  )
}
