import { Card, Group, List, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useForbidden, useMe } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { signInSettings as say } from '../../strings/sign-in-settings.ts'

/** Whether a password alone is enough: to require more, and to stop requiring it. */
export function SecondFactorCard() {
  const query = useRead('getSignInRules', {})
  const isRequired = query.data?.reply.secondFactorRequired
  const forbidden = useForbidden('setSignInRules')
  const me = useMe()
  const own = isRequired === false && me?.method === 'password' ? say.ownFactorFirst : undefined
  const [asked, setAsked] = useState(false)
  return (
    <Card withBorder padding="lg" component="section" aria-label={say.secondFactor}>
      <Stack>
        <Group justify="space-between" align="flex-start">
          <div>
            <Title order={2} size="h5">
              {say.secondFactor}
            </Title>
            <Text size="sm" c="dimmed">
              {say.secondFactorHelp}
            </Text>
          </div>
          {isRequired !== undefined && (
            <ReasonedButton variant="default" reason={forbidden ?? own} onClick={() => setAsked(true)}>
              {isRequired ? say.allowPasswords : say.requireFactor}
            </ReasonedButton>
          )}
        </Group>
        <Loaded query={query} lines={1}>
          {({ reply }) => (
            <Text size="sm">{reply.secondFactorRequired ? say.factorRequired : say.factorNotRequired}</Text>
          )}
        </Loaded>
      </Stack>
      {asked && isRequired !== undefined && <Change required={!isRequired} onClose={() => setAsked(false)} />}
    </Card>
  )
}

function Change({ required, onClose }: { required: boolean; onClose: () => void }) {
  const save = useWrite('setSignInRules')
  return (
    <Confirm
      title={required ? say.requireFactorTitle : say.allowPasswordsTitle}
      action={required ? say.requireFactor : say.allowPasswords}
      onClose={onClose}
      onConfirm={async () => {
        await save.mutateAsync({ body: { secondFactorRequired: required } })
        notifyDone(required ? say.factorRequiredNow : say.passwordsAllowedNow)
      }}
    >
      {required ? (
        <List size="sm" spacing={6}>
          {say.requireFactorEffects.map((effect) => (
            <List.Item key={effect}>{effect}</List.Item>
          ))}
        </List>
      ) : (
        say.allowPasswordsHelp
      )}
    </Confirm>
  )
}
