import { Anchor, Badge, Box, Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import type { AuditEvent } from '@penstock/wire'
import { IconUserSearch } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { AccountName } from '../../components/account-name.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { wordsOf } from '../../components/problems.ts'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { accounts as say } from '../../strings/accounts.ts'
import { audit } from '../../strings/audit.ts'
import { dataSubjects } from '../../strings/data-subjects.ts'
import { targetOf } from '../audit/words.ts'
import { handOver, wrongIn } from '../data-subjects/use-search.ts'

const shownEvents = 5

/** Below the list of sub-accounts: one person in all of them, and who changed what. A card is there if its user may read it. */
export function Below() {
  const mayFind = useForbidden('findDataSubject') === undefined
  const maySeeEvents = useForbidden('listAudit') === undefined
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      {mayFind && <FindPerson />}
      {maySeeEvents && <Changes />}
    </SimpleGrid>
  )
}

function FindPerson() {
  const [value, setValue] = useState('')
  const [error, setError] = useState<string>()
  const navigate = useNavigate()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const values = [value.trim()].filter(Boolean)
    const wrong = wrongIn(values)
    setError(wrong)
    if (wrong) return
    handOver(values)
    void navigate('/find-person')
  }
  return (
    <Section title={dataSubjects.title} note={say.inAll} region fill>
      <form onSubmit={submit}>
        <Group align="flex-start" gap="sm">
          <TextInput
            style={{ flex: '1 1 14rem' }}
            aria-label={say.person}
            placeholder={say.person}
            description={say.personHelp}
            inputWrapperOrder={['input', 'description', 'error']}
            autoComplete="off"
            data-1p-ignore
            value={value}
            error={error}
            onChange={({ currentTarget }) => setValue(currentTarget.value)}
          />
          <Button type="submit" variant="default" leftSection={<IconUserSearch size={18} aria-hidden />}>
            {dataSubjects.find}
          </Button>
        </Group>
      </form>
    </Section>
  )
}

function Changes() {
  const events = useRead('listAudit', { query: { size: shownEvents } })
  return (
    <Section
      title={say.changes}
      action={
        <Anchor component={Link} to="/audit" size="sm">
          {say.audit}
        </Anchor>
      }
      region
      fill
    >
      <Loaded query={events} lines={shownEvents}>
        {({ reply }) => (
          <Stack gap="xs">
            {reply.map((event) => (
              <Change key={event.number} event={event} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

function Change({ event }: { event: AuditEvent }) {
  const { actor, action, outcome, time, accountId, targetId } = event
  const target = targetOf(event)
  return (
    <Group justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
      <Text size="sm" component="div" miw={0} style={{ overflowWrap: 'anywhere' }}>
        <b>{actor.name ?? audit.kind[actor.kind]}</b> · {wordsOf(action)}
        {target && ` · ${target}`}{' '}
        {outcome !== 'done' && (
          <Badge variant="default" size="sm" fw={500}>
            {audit.outcome[outcome]}
          </Badge>
        )}
        <Text span display="block" size="xs" c="dimmed">
          <Time seconds={time} />
        </Text>
      </Text>
      {accountId && accountId !== targetId && (
        <Box fz="sm" maw="40%">
          <AccountName accountId={accountId} page="audit" />
        </Box>
      )}
    </Group>
  )
}
