import { Button, Group, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { buildSource as say } from '../../strings/build-source.ts'
import classes from './build-source.module.css'
import { Panel } from './panel.tsx'

/** The parts of a source: its address and sign-in, and its streams. */
export function Parts({
  names,
  picked,
  disabled,
  onPick,
  onAdd,
}: {
  /** The names of the streams. */
  names: readonly string[]
  /** The stream that is shown; undefined: the address and the sign-in. */
  picked: string | undefined
  /** No stream can be added. */
  disabled: boolean
  /** @param stream undefined: the address and the sign-in */
  onPick: (stream: string | undefined) => void
  onAdd: (name: string) => void
}) {
  return (
    <Panel title={say.source} className={classes.parts}>
      <Stack gap={2} component="nav" aria-label={say.source}>
        <UnstyledButton
          className={classes.part}
          aria-current={picked === undefined ? 'true' : undefined}
          onClick={() => onPick(undefined)}
        >
          {say.connection}
        </UnstyledButton>
        <Text size="xs" c="dimmed" fw={600} px="sm" mt="xs">
          {say.streams}
        </Text>
        {names.map((one) => (
          <UnstyledButton
            key={one}
            className={classes.part}
            aria-current={one === picked ? 'true' : undefined}
            onClick={() => onPick(one)}
          >
            {one}
          </UnstyledButton>
        ))}
      </Stack>
      <AddStream names={names} disabled={disabled} onAdd={onAdd} />
    </Panel>
  )
}

function AddStream({
  names,
  disabled,
  onAdd,
}: {
  names: readonly string[]
  disabled: boolean
  onAdd: (name: string) => void
}) {
  const [typed, setTyped] = useState<string>()
  const [tried, setTried] = useState(false)
  if (typed === undefined) {
    return (
      <Button
        variant="default"
        size="xs"
        disabled={disabled}
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => setTyped('')}
      >
        {say.addStream}
      </Button>
    )
  }
  const name = typed.trim()
  const wrong = names.includes(name)
    ? say.streamExists
    : /^[\p{L}\p{N}_ .-]{1,100}$/u.test(name)
      ? undefined
      : say.streamNameInvalid
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (wrong !== undefined) return
        onAdd(name)
        setTyped(undefined)
        setTried(false)
      }}
    >
      <Group gap="xs" align="flex-end">
        <TextInput
          size="xs"
          label={say.streamName}
          value={typed}
          error={tried && wrong}
          autoComplete="off"
          autoFocus
          maxLength={100}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          style={{ flex: 1 }}
        />
        <Button size="xs" type="submit">
          {say.add}
        </Button>
      </Group>
    </form>
  )
}
