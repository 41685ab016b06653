import { Button, CopyButton, Group, Input, Paper, PasswordInput, Stack, Text, Textarea } from '@mantine/core'
import { isSecretReference, limits, type SecretForm, secretMask } from '@penstock/wire'
import { IconCheck, IconCopy, IconLock, IconLockOff, IconWand } from '@tabler/icons-react'
import { type CSSProperties, type ReactNode, useContext, useId, useState } from 'react'
import { fields as say } from '../../strings/fields.ts'
import { Time } from '../time.tsx'
import { type FieldInputProps, wordsOf } from './field-words.ts'
import { isSecretSet } from './form-field.ts'
import { ReferringInput } from './referring-input.ts'
import { hasLines, pasted, takesLines } from './text-input.tsx'

/**
 * A secret: that it is set, and since when, is all that is shown, unless it is a reference to a secret manager. It can be
 * replaced, and cleared if none is needed.
 */
export function SecretInput(props: FieldInputProps) {
  const { field, needed, value, onChange, lastUpdated } = props
  const [replacing, setReplacing] = useState(false)
  const set = isSecretSet(field)
  const saved = isSecretReference(field.value) ? field.value : secretMask
  const stays = value === saved
  if (field.readonly) return <Kept {...props} said={set ? say.setByService : say.filledByService} />
  if (set && stays && !replacing) {
    return (
      <Kept
        {...props}
        said={
          <>
            {saved === secretMask ? (
              say.set
            ) : (
              <Text span size="sm" ff="monospace">
                {saved}
              </Text>
            )}
            {lastUpdated ? (
              <>
                {say.lastChanged} <Time seconds={lastUpdated} />
              </>
            ) : null}
          </>
        }
      >
        <Button
          size="compact-sm"
          variant="default"
          aria-label={say.replaceOne(field.label)}
          onClick={() => setReplacing(true)}
        >
          {say.replace}
        </Button>
        {!needed && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="red"
            aria-label={say.clear(field.label)}
            onClick={() => onChange('')}
          >
            {say.clearShort}
          </Button>
        )}
      </Kept>
    )
  }
  const keep = () => {
    setReplacing(false)
    onChange(saved)
  }
  if (set && value === '' && !replacing) {
    return (
      <Kept {...props} gone said={say.cleared}>
        <Button size="compact-sm" variant="default" aria-label={say.keepOne(field.label)} onClick={keep}>
          {say.keep}
        </Button>
      </Kept>
    )
  }
  // An empty input replaces nothing: the secret stays unless it is cleared in so many words.
  const type = (next: string) => onChange(next === '' && set ? saved : next)
  return (
    <>
      <Entered {...props} value={stays ? '' : value} onChange={(next) => type(String(next))} focused={replacing} />
      {set && (
        <Group mt={-12}>
          <Button size="compact-sm" variant="subtle" aria-label={say.keepOne(field.label)} onClick={keep}>
            {say.keep}
          </Button>
        </Group>
      )}
    </>
  )
}

/** State of a secret that is not being typed, and its actions. */
function Kept({
  said,
  gone = false,
  children,
  ...props
}: FieldInputProps & { said: ReactNode; gone?: boolean; children?: ReactNode }) {
  const id = useId()
  const { label, description, error, withAsterisk } = wordsOf(props)
  const Icon = gone ? IconLockOff : IconLock
  return (
    <Input.Wrapper
      label={label}
      labelElement="div"
      labelProps={{ id }}
      description={description}
      error={error}
      withAsterisk={withAsterisk}
    >
      <Paper withBorder mt={5} px="sm" py={6} radius="md" role="group" aria-labelledby={id} mih={36}>
        <Group justify="space-between" gap="xs">
          <Group gap="xs" wrap="nowrap" c="dimmed">
            <Icon size={16} aria-hidden />
            <Text size="sm" component="div">
              {said}
            </Text>
          </Group>
          {children && <Group gap={4}>{children}</Group>}
        </Group>
      </Paper>
    </Input.Wrapper>
  )
}

/** The input of a secret: its value, or a reference to a secret manager if the field accepts references. */
function Entered({ focused, ...props }: FieldInputProps & { focused: boolean }) {
  const Referring = useContext(ReferringInput)
  const typed = <Typed {...props} focused={focused} />
  return Referring ? <Referring {...props} focused={focused} typed={typed} /> : typed
}

/** Where a secret is typed or pasted; a key of several lines keeps them. */
function Typed({ focused, ...props }: FieldInputProps & { focused: boolean }) {
  const { field, value, onChange } = props
  const [grown, setGrown] = useState(false)
  const [visible, setVisible] = useState(false)
  const [generated, setGenerated] = useState<string>()
  const text = String(value)
  const shared = {
    ...wordsOf(props),
    value: text,
    maxLength: limits.secretLengthMax,
    autoComplete: 'new-password',
    spellCheck: false,
  }
  if (grown || takesLines(field) || text.includes('\n')) {
    return (
      <Textarea
        {...shared}
        autosize
        minRows={3}
        maxRows={8}
        autoFocus={focused || grown}
        styles={{ input: hidden }}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )
  }
  const input = (
    <PasswordInput
      {...shared}
      autoFocus={focused}
      visible={visible}
      onVisibilityChange={setVisible}
      visibilityToggleButtonProps={{ 'aria-label': say.showTyped(field.label), tabIndex: 0 }}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      onPaste={(event) => {
        if (!hasLines(event)) return
        event.preventDefault()
        setGrown(true)
        onChange(pasted(event))
      }}
    />
  )
  const { form } = field
  if (!form) return input
  const generate = () => {
    const secret = generators[form]()
    setGenerated(secret)
    setVisible(true)
    onChange(secret)
  }
  return (
    <Stack gap="xs">
      {input}
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconWand size={16} aria-hidden />}
          aria-label={say.generateOne(field.label)}
          onClick={generate}
        >
          {say.generate}
        </Button>
        {text !== '' && text === generated && (
          <>
            <CopyButton value={text}>
              {({ copied, copy }) => (
                <Button
                  size="compact-sm"
                  variant="default"
                  leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
                  aria-label={say.copyOne(field.label)}
                  onClick={copy}
                >
                  {copied ? say.copied : say.copy}
                </Button>
              )}
            </CopyButton>
            <Text size="xs" c="dimmed" role="status">
              {say.copyNow}
            </Text>
          </>
        )}
      </Group>
    </Stack>
  )
}

const keyBytes = 32

/** New secrets of each form, from the browser's cryptographic random source. */
const generators: Readonly<Record<SecretForm, () => string>> = {
  'standard-webhooks': () => `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(keyBytes))))}`,
}

/** Dots in place of letters, which a block of text has no type of its own for. */
const hidden = { WebkitTextSecurity: 'disc' } as CSSProperties
