import { Badge, Box, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import type { UserSession } from '@penstock/wire'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { forgetSession } from '../../api/session.ts'
import { browserName } from '../../components/browser-name.ts'
import { Confirm } from '../../components/confirm.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { Time } from '../../components/time.tsx'
import { profile as say } from '../../strings/profile.ts'

/** The browsers in which the person is signed in, each of which can be signed out. */
export function Sessions() {
  const query = useRead('listMySessions', {})
  const everywhere = useWrite('endMySessions')
  const [asked, setAsked] = useState(false)
  return (
    <Card withBorder padding="lg" component="section" aria-label={say.sessions}>
      <Stack>
        <Group justify="space-between" align="flex-start">
          <div>
            <Title order={2} size="h5">
              {say.sessions}
            </Title>
            <Text size="sm" c="dimmed">
              {say.sessionsHelp}
            </Text>
          </div>
          <Button variant="default" onClick={() => setAsked(true)}>
            {say.everywhere}
          </Button>
        </Group>
        <Loaded query={query} lines={2}>
          {({ reply }) => (
            <Stack gap="md" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
              {reply.map((session) => (
                <li key={session.id}>
                  <Session session={session} />
                </li>
              ))}
            </Stack>
          )}
        </Loaded>
      </Stack>
      {asked && (
        <Confirm
          title={say.everywhereTitle}
          action={say.everywhere}
          onClose={() => setAsked(false)}
          onConfirm={async () => {
            await everywhere.mutateAsync({})
            forgetSession()
          }}
        >
          {say.everywhereHelp}
        </Confirm>
      )}
    </Card>
  )
}

function Session({ session }: { session: UserSession }) {
  const { id, current, method, createdTime, lastUsedTime, address, userAgent } = session
  const end = useWrite('endMySession')
  const browser = browserName(userAgent)
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start">
      <Box miw={0} style={{ overflowWrap: 'anywhere' }}>
        <Group gap="xs">
          <Text fw={550} size="sm" title={userAgent ?? ''}>
            {browser}
          </Text>
          {current && <Badge variant="default">{say.current}</Badge>}
        </Group>
        <Text size="sm" c="dimmed">
          {address} · {say.signedIn} {say.withMethod(say.method[method])} <Time seconds={createdTime} /> ·{' '}
          {say.lastUsed} <Time seconds={lastUsedTime} />
        </Text>
      </Box>
      {!current && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={say.endNamed(browser)}
          loading={end.isPending}
          onClick={() =>
            end
              .mutateAsync({ id })
              .then(() => notifyDone(say.ended))
              .catch(notifyFailure)
          }
        >
          {say.end}
        </Button>
      )}
    </Group>
  )
}
