import { Button, Group, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import type { ImportedOperation } from '@penstock/wire/import-operation'
import { IconFileImport, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useDialog } from '../../components/form-dialog.tsx'
import { buildOperation as sayOperation } from '../../strings/build-operation.ts'
import { buildSource as say } from '../../strings/build-source.ts'
import classes from './build-source.module.css'
import { ImportForm } from './import-form.tsx'
import { Panel } from './panel.tsx'

/** The parts that the screen can show: the address and the sign-in, a stream or an operation. */
export type PickedKind = 'connection' | 'streams' | 'operations'

const kinds = [
  {
    kind: 'streams',
    title: say.streams,
    texts: { add: say.addStream, name: say.streamName, exists: say.streamExists },
  },
  {
    kind: 'operations',
    title: sayOperation.operations,
    texts: { add: sayOperation.addOperation, name: sayOperation.operationName, exists: sayOperation.operationExists },
  },
] as const

/** The parts of a definition: its address and sign-in, its streams, and its operations. */
export function Parts({
  names,
  picked,
  disabled,
  onPick,
  onAdd,
  onImport,
}: {
  /** The names of the streams and operations. */
  names: Readonly<Record<'streams' | 'operations', readonly string[]>>
  picked: { readonly kind: PickedKind; readonly name: string }
  /** Nothing can be added. */
  disabled: boolean
  onPick: (kind: PickedKind, name: string) => void
  onAdd: (kind: 'streams' | 'operations', name: string) => void
  onImport: (imported: ImportedOperation) => void
}) {
  const [dialog, open] = useDialog()
  return (
    <Panel title={say.source} className={classes.parts}>
      <Stack gap={2} component="nav" aria-label={say.source}>
        <UnstyledButton
          className={classes.part}
          aria-current={picked.kind === 'connection' ? 'true' : undefined}
          onClick={() => onPick('connection', '')}
        >
          {say.connection}
        </UnstyledButton>
        {kinds.map(({ kind, title, texts }) => (
          <Stack gap={2} key={kind}>
            <Text size="xs" c="dimmed" fw={600} px="sm" mt="xs">
              {title}
            </Text>
            {names[kind].map((one) => (
              <UnstyledButton
                key={one}
                className={classes.part}
                aria-current={picked.kind === kind && picked.name === one ? 'true' : undefined}
                onClick={() => onPick(kind, one)}
              >
                {one}
              </UnstyledButton>
            ))}
            <AddPart texts={texts} names={names[kind]} disabled={disabled} onAdd={(name) => onAdd(kind, name)} />
          </Stack>
        ))}
        <Button
          variant="subtle"
          size="xs"
          disabled={disabled}
          leftSection={<IconFileImport size={14} aria-hidden />}
          onClick={() => open((close) => <ImportForm names={names.operations} onImport={onImport} onClose={close} />)}
        >
          {sayOperation.importOperation}
        </Button>
      </Stack>
      {dialog}
    </Panel>
  )
}

function AddPart({
  texts,
  names,
  disabled,
  onAdd,
}: {
  texts: { readonly add: string; readonly name: string; readonly exists: string }
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
        {texts.add}
      </Button>
    )
  }
  const name = typed.trim()
  const wrong = names.includes(name)
    ? texts.exists
    : /^[\p{L}\p{N}_ .-]{1,100}$/u.test(name)
      ? undefined
      : say.nameInvalid
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
          label={texts.name}
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
