import { List, Text } from '@mantine/core'
import { useForbidden, useMe } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { DialogButton } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { signInSettings as say } from '../../strings/sign-in-settings.ts'

/** Whether a password alone is enough: to require more, and to stop requiring it. */
export function SecondFactorCard() {
  const query = useRead('getSignInRules', {})
  const isRequired = query.data?.reply.secondFactorRequired
  const forbidden = useForbidden('setSignInRules')
  const me = useMe()
  const own = isRequired === false && me?.method === 'password' ? say.ownFactorFirst : undefined
  const change = isRequired !== undefined && (
    <DialogButton reason={forbidden ?? own} dialog={(close) => <Change required={!isRequired} onClose={close} />}>
      {isRequired ? say.allowPasswords : say.requireFactor}
    </DialogButton>
  )
  return (
    <Section title={say.secondFactor} help={say.secondFactorHelp} action={change} region>
      <Loaded query={query} lines={1}>
        {({ reply }) => (
          <Text size="sm">{reply.secondFactorRequired ? say.factorRequired : say.factorNotRequired}</Text>
        )}
      </Loaded>
    </Section>
  )
}

function Change({ required, onClose }: { required: boolean; onClose: () => void }) {
  return (
    <ConfirmWrite
      title={required ? say.requireFactorTitle : say.allowPasswordsTitle}
      action={required ? say.requireFactor : say.allowPasswords}
      operation="setSignInRules"
      parameters={{ body: { secondFactorRequired: required } }}
      done={required ? say.factorRequiredNow : say.passwordsAllowedNow}
      onClose={onClose}
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
    </ConfirmWrite>
  )
}
