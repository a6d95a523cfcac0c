module sample.com/go-host

go 1.21.0

require github.com/zjn-zjn/ice/sdks/go v1.4.0
