import { Badge, Box, Button, Group, Stack, Text } from '@mantine/core'
import type { UserSession } from '@penstock/wire'
import { useRead, useWrite } from '../../api/queries.ts'
import { forgetSession } from '../../api/session.ts'
import { browserName } from '../../components/browser-name.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { DialogButton } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { profile as say } from '../../strings/profile.ts'

/** The browsers in which the person is signed in, each of which can be signed out. */
export function Sessions() {
  const query = useRead('listMySessions', {})
  const everywhere = (
    <DialogButton
      reason={undefined}
      dialog={(close) => (
        <ConfirmWrite
          title={say.everywhereTitle}
          action={say.everywhere}
          operation="endMySessions"
          parameters={{}}
          onDone={forgetSession}
          onClose={close}
        >
          {say.everywhereHelp}
        </ConfirmWrite>
      )}
    >
      {say.everywhere}
    </DialogButton>
  )
  return (
    <Section title={say.sessions} help={say.sessionsHelp} action={everywhere} region>
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
    </Section>
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
          onClick={() => void notifyOutcome(end.mutateAsync({ id }), say.ended)}
        >
          {say.end}
        </Button>
      )}
    </Group>
  )
}
