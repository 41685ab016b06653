import { Button, CloseButton, Combobox, Group, Input, InputBase, Popover, Text } from '@mantine/core'
import type { ConnectionConfig } from '@penstock/wire'
import { useEffect, useId, useRef, useState } from 'react'
import { discovery as say } from '../../strings/discovery.ts'
import { fields as sayFields } from '../../strings/fields.ts'
import { isUpload, UploadName } from '../upload-name.tsx'
import { DiscoveredList } from './discovered-list.tsx'
import { addNames, type Discovery, takesNames, toggleName } from './discovery.ts'
import { type FieldInputProps, wordsOf } from './field-words.ts'
import { LineInput } from './text-input.tsx'

export type PickedInputProps = FieldInputProps & {
  discovery: Discovery
  /** The settings of the form, on which the list depends. */
  settings: ConnectionConfig
}

/** A setting whose values the platform lists. Any other value can be entered. */
export function PickedInput(props: PickedInputProps) {
  const { field, needed, value, onChange, discovery, settings } = props
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const line = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const [isTyped, setTyped] = useState(false)
  const [picked, setPicked] = useState({ value: '', label: '' })
  useEffect(() => {
    if (isTyped) line.current?.querySelector<HTMLElement>('input, textarea')?.focus()
  }, [isTyped])
  if (isTyped) {
    return (
      <>
        <div ref={line}>
          <LineInput {...props} />
        </div>
        <Group mt={-12}>
          <Button
            size="compact-sm"
            variant="subtle"
            aria-label={`${say.pick}: ${field.label}`}
            onClick={() => {
              setTyped(false)
              setOpen(true)
            }}
          >
            {say.pick}
          </Button>
        </Group>
      </>
    )
  }
  const text = String(value)
  const several = takesNames(field)
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  const clearable = text !== '' && !needed && field.default === undefined
  return (
    <Popover
      opened={isOpen}
      onChange={(next) => (next ? setOpen(true) : close())}
      width="target"
      position="bottom-start"
      shadow="md"
      withRoles={false}
      trapFocus
    >
      <Popover.Target>
        <InputBase
          {...wordsOf(props)}
          ref={button}
          component="button"
          type="button"
          pointer
          role="combobox"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => setOpen(!isOpen)}
          rightSectionPointerEvents={clearable ? 'all' : 'none'}
          rightSection={
            clearable ? (
              <CloseButton size="sm" aria-label={sayFields.clear(field.label)} onClick={() => onChange('')} />
            ) : (
              <Combobox.Chevron />
            )
          }
        >
          {text === '' ? (
            <Input.Placeholder>{field.default ?? say.pick}</Input.Placeholder>
          ) : (
            <Text span inherit truncate display="block" title={text}>
              {isUpload(discovery.connectorId, text) ? (
                <UploadName accountId={discovery.accountId} id={text} />
              ) : picked.label && picked.value === text ? (
                <>
                  {picked.label}{' '}
                  <Text span inherit c="dimmed">
                    {text}
                  </Text>
                </>
              ) : (
                text
              )}
            </Text>
          )}
        </InputBase>
      </Popover.Target>
      <Popover.Dropdown p={0} id={id} role="dialog" aria-label={say.title(field.label)}>
        <DiscoveredList
          discovery={discovery}
          settings={settings}
          field={field}
          value={text}
          several={several}
          onPick={(item) => {
            setPicked({ value: item.value, label: item.label ?? '' })
            onChange(several ? toggleName(text, item.value) : item.value)
            if (!several) close()
          }}
          onEnter={(entered) => {
            onChange(several ? addNames(text, entered) : entered)
            close()
          }}
          onType={() => {
            setOpen(false)
            setTyped(true)
          }}
        />
      </Popover.Dropdown>
    </Popover>
  )
}
