import { ActionIcon, CopyButton, Group, TextInput, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { components as say } from '../strings/components.ts'
import { monoLine } from './mono.ts'

/** A value to copy, such as a secret that is shown once. */
export function CopyField({ label, value }: { label: string; value: string }) {
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <TextInput
        label={label}
        value={value}
        readOnly
        spellCheck={false}
        style={{ flex: 1, minWidth: 0 }}
        styles={monoLine}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? say.copied : say.copyOne(label)}>
            <ActionIcon
              variant="default"
              size={36}
              aria-label={copied ? `${label}: ${say.copied}` : say.copyOne(label)}
              onClick={copy}
            >
              {copied ? <IconCheck size={18} aria-hidden /> : <IconCopy size={18} aria-hidden />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  )
}
