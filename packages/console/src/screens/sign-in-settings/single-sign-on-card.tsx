import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import type { SingleSignOn } from '@penstock/wire'
import { type ReactNode, useState } from 'react'
import { useForbiddenOf } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { LimitedTo } from '../../components/access.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { CopyField } from '../../components/copy-field.tsx'
import { Lines, NotRead } from '../../components/loaded.tsx'
import { notifyDone } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { access } from '../../strings/access.ts'
import { signInSettings as say } from '../../strings/sign-in-settings.ts'
import { SetSingleSignOn } from './set-single-sign-on.tsx'

/** The identity provider of the organization: what it is, to set it up, to change and to remove it. */
export function SingleSignOnCard() {
  const query = useRead('getSingleSignOn', {})
  const forbidden = useForbiddenOf()
  const [doing, setDoing] = useState<'set' | 'remove'>()
  const stop = () => setDoing(undefined)
  // `not_found` is a valid answer. The query keeps the removed settings beside the error.
  const isNone = query.error instanceof PenstockError && query.error.code === 'not_found'
  const provider = isNone ? undefined : query.data?.reply
  return (
    <Card withBorder padding="lg" component="section" aria-label={say.singleSignOn}>
      <Stack>
        <Group justify="space-between" align="flex-start">
          <div>
            <Title order={2} size="h5">
              {say.singleSignOn}
            </Title>
            <Text size="sm" c="dimmed">
              {say.singleSignOnHelp}
            </Text>
          </div>
          <Group gap="sm">
            {(provider || isNone) && (
              <ReasonedButton
                {...(provider ? { variant: 'default' } : {})}
                reason={forbidden('setSingleSignOn')}
                onClick={() => setDoing('set')}
              >
                {provider ? say.change : say.setUp}
              </ReasonedButton>
            )}
            {provider && (
              <ReasonedButton
                variant="default"
                reason={forbidden('deleteSingleSignOn')}
                onClick={() => setDoing('remove')}
              >
                {say.remove}
              </ReasonedButton>
            )}
          </Group>
        </Group>
        {!isNone && <NotRead query={query} />}
        {provider ? (
          <Provider provider={provider} />
        ) : isNone ? (
          <Text size="sm">{say.none}</Text>
        ) : (
          query.isPending && <Lines lines={3} />
        )}
      </Stack>
      {doing === 'set' && <SetSingleSignOn provider={provider} onClose={stop} />}
      {doing === 'remove' && <Remove onClose={stop} />}
    </Card>
  )
}

function Provider({ provider }: { provider: SingleSignOn }) {
  const { issuer, clientId, emailDomains, newUsers, required, signInUrl, redirectUri, savedTime } = provider
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        <Fact label={say.issuer}>{issuer}</Fact>
        <Fact label={say.clientId}>{clientId}</Fact>
        <Fact label={say.otherWays}>{required ? say.otherWaysOwners : say.otherWaysAll}</Fact>
        <Fact label={say.emailDomains}>{emailDomains ? emailDomains.join(', ') : say.anyDomain}</Fact>
        <Fact label={say.newPeople}>
          {newUsers ? (
            <>
              {say.newPeopleAdded(access.role[newUsers.role])} <LimitedTo accountIds={newUsers.accountIds} />
            </>
          ) : (
            say.newPeopleRefused
          )}
        </Fact>
        <Fact label={say.saved}>
          <Time seconds={savedTime} />
        </Fact>
      </SimpleGrid>
      <div>
        <CopyField label={say.signInUrl} value={signInUrl} />
        <Text size="sm" c="dimmed" mt={4}>
          {say.signInUrlHelp}
        </Text>
      </div>
      <div>
        <CopyField label={say.redirectUri} value={redirectUri} />
        <Text size="sm" c="dimmed" mt={4}>
          {say.redirectUriHelp}
        </Text>
      </div>
    </Stack>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="div" size="sm">
        {children}
      </Text>
    </div>
  )
}

function Remove({ onClose }: { onClose: () => void }) {
  const remove = useWrite('deleteSingleSignOn')
  return (
    <Confirm
      title={say.removeTitle}
      action={say.remove}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({})
        notifyDone(say.removed)
      }}
    >
      {say.removeHelp}
    </Confirm>
  )
}
