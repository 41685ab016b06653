import { Button, FileButton, Group, Input, Text } from '@mantine/core'
import { limits } from '@penstock/wire'
import { useId, useRef, useState } from 'react'
import { count } from '../../components/numbers.ts'
import { branding as say } from '../../strings/branding.ts'

const types = ['image/png', 'image/webp']

/** A picture from a file. The value is a data: URL; null: none. */
export function LogoField({
  value,
  error,
  onChange,
}: {
  value: string | null
  error: string | undefined
  onChange: (value: string | null) => void
}) {
  const [problem, setProblem] = useState<string>()
  const reset = useRef<() => void>(null)
  const id = useId()
  const read = (file: File | null) => {
    if (!file) return
    reset.current?.()
    if (!types.includes(file.type)) return setProblem(say.notPicture)
    if (file.size > limits.logoBytesMax) return setProblem(say.tooLarge(count(Math.ceil(file.size / 1024))))
    setProblem(undefined)
    const reader = new FileReader()
    reader.onload = () => onChange(String(reader.result))
    reader.onerror = () => setProblem(say.notPicture)
    reader.readAsDataURL(file)
  }
  const remove = () => {
    setProblem(undefined)
    onChange(null)
  }
  const wrong = problem ?? error
  return (
    <Input.Wrapper
      label={say.logo}
      description={say.logoHelp}
      {...(wrong ? { error: wrong } : {})}
      inputWrapperOrder={['label', 'description', 'input', 'error']}
      labelElement="div"
      labelProps={{ id }}
    >
      <Group gap="sm" mt={6} mb={wrong ? 6 : 0} role="group" aria-labelledby={id}>
        {value ? (
          <img src={value} alt={say.logoOf} style={{ height: 32, maxWidth: 160, objectFit: 'contain' }} />
        ) : (
          <Text size="sm" c="dimmed">
            {say.noLogo}
          </Text>
        )}
        <FileButton onChange={read} accept={types.join()} resetRef={reset}>
          {(props) => (
            <Button {...props} variant="default" size="compact-md">
              {say.chooseLogo}
            </Button>
          )}
        </FileButton>
        {value && (
          <Button variant="subtle" color="gray" size="compact-md" onClick={remove}>
            {say.removeLogo}
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  )
}
