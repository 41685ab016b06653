import { Button, Group, type MantineSpacing, Modal, Stack } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type ComponentProps, type ReactNode, useRef, useState } from 'react'
import { components } from '../strings/components.ts'
import { Changed, isChanged } from './changed.tsx'
import { Failure } from './failure.tsx'
import { errorsOf } from './fields/field-errors.ts'
import { useFirstField } from './focus-return.ts'
import { notifyDone, notifyProblem } from './notify.ts'
import { ReasonedButton } from './reasoned.tsx'

/** Done, but something about it does not work. It stays until it is closed. */
type Warning = { readonly title: string; readonly message: string }
type ErrorsIn = (...prefixes: readonly string[]) => Readonly<Record<string, string>>

type FormProps = {
  /** The text of the button. */
  action?: string
  /** The action takes something away. */
  destructive?: boolean
  disabled?: boolean
  gap?: MantineSpacing
  /** Errors that keep the form from being sent, by field: shown from the first attempt on. */
  invalid?: Readonly<Record<string, string | false | undefined>>
  /** Compares both versions if the resource was modified in the meantime. */
  versions?: Pick<ComponentProps<typeof Changed>, 'mine' | 'readTheirs'>
  /**
   * Sends the form. A text or a warning that it resolves with is shown, and the dialog closes; an error is shown at its
   * fields, or above the buttons.
   * @param latest the version to replace, after the user has seen it
   */
  onSubmit: (latest?: string) => Promise<string | Warning | undefined> | Promise<void>
  /** A second way to send the form, by a button next to the first one. */
  other?:
    | { readonly action: string; readonly disabled?: boolean; readonly onSubmit: () => Promise<string | undefined> }
    | undefined
  onClose: () => void
  /** The fields. `errorOf` has the error of a field of the body, `errorsIn` has those of all fields below a prefix. */
  children: ReactNode | ((errorOf: (field: string) => string | undefined, errorsIn: ErrorsIn) => ReactNode)
}

/** A form in a dialog. */
export function FormDialog({ title, size, ...form }: FormProps & { title: string; size?: string }) {
  return (
    <Modal opened onClose={form.onClose} title={title} {...(size && { size })}>
      <DialogForm {...form} />
    </Modal>
  )
}

/** The same form in a frame of another kind. */
export function DialogForm({
  action = components.save,
  destructive = false,
  disabled = false,
  gap,
  invalid = {},
  versions,
  onSubmit,
  other,
  onClose,
  children,
}: FormProps) {
  const element = useRef<HTMLFormElement>(null)
  useFirstField(element)
  const [tried, setTried] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const send = async (submit: () => ReturnType<FormProps['onSubmit']>) => {
    setTried(true)
    setFailure(undefined)
    if (disabled || Object.values(invalid).some(Boolean)) return
    setBusy(true)
    try {
      const done = await submit()
      if (!done) return
      if (typeof done === 'string') notifyDone(done)
      else notifyProblem(done.title, done.message)
      onClose()
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  const shown: string[] = []
  const errorsIn: ErrorsIn = (...prefixes) => {
    shown.push(...prefixes)
    return Object.assign({}, ...prefixes.map((prefix) => errorsOf(failure, prefix)))
  }
  const details = failure instanceof PenstockError ? failure.details : []
  const isOf = (field: string, prefix: string) => field === prefix || field.startsWith(`${prefix}.`)
  const errorOf = (name: string) => {
    shown.push(`body.${name}`)
    const message = details.find(({ field }) => isOf(field, `body.${name}`))?.message
    return (tried && invalid[name]) || (message && sentence(message)) || undefined
  }
  const fields = typeof children === 'function' ? children(errorOf, errorsIn) : children
  const isShown = details.length > 0 && details.every(({ field }) => shown.some((prefix) => isOf(field, prefix)))
  return (
    <form
      ref={element}
      onSubmit={(event) => {
        event.preventDefault()
        // Events of a form in a dialog of its own come here all the same.
        if (event.target === event.currentTarget) void send(onSubmit)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        event.currentTarget.requestSubmit()
      }}
    >
      <Stack {...(gap && { gap })}>
        {fields}
        {versions && isChanged(failure) ? (
          <Changed {...versions} onKeepTheirs={onClose} onSaveMine={(latest) => void send(() => onSubmit(latest))} />
        ) : (
          failure !== undefined && !isShown && <Failure error={failure} />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {components.cancel}
          </Button>
          {other && (
            <Button
              variant="default"
              disabled={busy || (other.disabled ?? disabled)}
              onClick={() => void send(other.onSubmit)}
            >
              {other.action}
            </Button>
          )}
          <Button type="submit" loading={busy} disabled={disabled} {...(destructive && { color: 'red' })}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`

export type OpenDialog = (dialog: (close: () => void) => ReactNode) => void

/** One dialog at a time: what it shows, and a function that opens one, which gets what closes it. */
export function useDialog(): [ReactNode, OpenDialog] {
  const [dialog, setDialog] = useState<{ show: (close: () => void) => ReactNode }>()
  // A late result does not close a dialog that was opened since.
  const close = () => setDialog((now) => (now === dialog ? undefined : now))
  return [dialog?.show(close), (show) => setDialog({ show })]
}

/**
 * A button that opens a dialog. The dialog is gone if the button leaves the page: use `useDialog` if a write can remove
 * the button.
 */
export function DialogButton({
  dialog,
  ...button
}: Omit<ComponentProps<typeof ReasonedButton>, 'onClick' | 'to' | 'type'> & {
  dialog: (close: () => void) => ReactNode
}) {
  const [shown, open] = useDialog()
  return (
    <>
      <ReasonedButton variant="default" {...button} onClick={() => open(dialog)} />
      {shown}
    </>
  )
}
