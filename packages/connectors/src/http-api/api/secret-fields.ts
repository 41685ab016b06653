/** All secrets of a configuration. Each setting that determines where or how one of them is sent binds it. */
export const secretFields = ['apiToken', 'password', 'clientSecret', 'refreshToken', 'secondKey']
